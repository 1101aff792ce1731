// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The servers that the tests of the SQL stores stand on. */
@Tag("stores")
class SqlServersTest {
  private static final int TIMEOUT_MILLIS = 300;

  /** What is committed survives kill -9 in the middle of other work; what is not committed does not. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void committedRowsSurviveAKill(SqlKind kind) throws SQLException {
    try (SqlServer server = kind.start()) {
      assertThat(server.version()).matches("(PostgreSQL|MariaDB|MySQL) \\d+(\\.\\d+)+");
      try (Connection connection = server.connect();
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE kept (id INT PRIMARY KEY)");
        statement.execute("INSERT INTO kept VALUES (1)");
        connection.setAutoCommit(false);
        statement.execute("INSERT INTO kept VALUES (2)");
        server.kill();
        assertThatThrownBy(() -> statement.execute("INSERT INTO kept VALUES (3)"))
            .isInstanceOf(SQLException.class);
      } catch (SQLException e) {
        // closing a connection that has ended may fail
        assertThat(server.process().isRunning()).isFalse();
      }
      server.start();
      assertThat(server.query("SELECT id FROM kept ORDER BY id")).containsExactly("1");
    }
  }

  /** A paused server answers nothing on a connection that it has; when it goes on, it answers. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aPausedServerKeepsSilent(SqlKind kind) throws SQLException {
    try (SqlServer server = kind.start();
        Connection first = server.connect();
        Connection second = server.connect()) {
      one(first);
      server.pause();
      first.setNetworkTimeout(Runnable::run, TIMEOUT_MILLIS);
      assertThatThrownBy(() -> one(first)).isInstanceOf(SQLException.class);
      server.resume();
      assertThat(one(second)).isEqualTo(1);
      try (Connection third = server.connect()) {
        assertThat(one(third)).isEqualTo(1);
      }
    }
  }

  private static int one(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT 1")) {
      assertThat(rows.next()).isTrue();
      return rows.getInt(1);
    }
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void theClockMoves(SqlKind kind) {
    String now = kind == SqlKind.POSTGRESQL
        ? "SELECT floor(extract(epoch from clock_timestamp()))::bigint"
        : "SELECT UNIX_TIMESTAMP(UTC_TIMESTAMP()) + TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW())";
    Duration ahead = Duration.ofHours(2);
    try (SqlServer server = kind.startWithAClock()) {
      assertThat(difference(server, now)).isLessThan(60);
      server.clockAhead(ahead);
      assertThat(difference(server, now)).isBetween(7100L, 7300L);
      server.clockAhead(ahead.negated());
      assertThat(difference(server, now)).isBetween(-7300L, -7100L);
    }
  }

  private static long difference(SqlServer server, String now) {
    return Long.parseLong(server.query(now).get(0)) - Instant.now().getEpochSecond();
  }

  /** Tables can be emptied and removed, whatever they are called and whoever refers to whom. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void tablesAreWiped(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    server.dropTables();
    String quote = kind == SqlKind.POSTGRESQL ? "\"" : "`";
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      for (String each :
          Stream.of("plain", "Odd name").map(name -> quote + name + quote).toList()) {
        statement.execute("CREATE TABLE " + each + " (id INT PRIMARY KEY)");
        statement.execute("INSERT INTO " + each + " VALUES (1)");
      }
      assertThat(server.query(server.tables())).hasSize(2);
      server.emptyTables();
      assertThat(server.query("SELECT COUNT(*) FROM plain")).containsExactly("0");
      server.dropTables();
      assertThat(server.query(server.tables())).isEmpty();
    }
  }

  /** The plain user has a database, and no rights beyond it; both users need their passwords. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void usersHaveTheirRights(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    assertThatThrownBy(() -> server.dataSource().getConnection(server.user(), "wrong"))
        .isInstanceOf(SQLException.class);
    server.execute("CREATE DATABASE other", "DROP DATABASE other");
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      assertThatThrownBy(() -> statement.execute("CREATE DATABASE other"))
          .isInstanceOf(SQLException.class);
    }
  }
}
