// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.ConfigurationException;
import io.holdfast.StaleTokenException;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Old tokens are refused, on every database and at every isolation. */
@Tag("stores")
@Tag("oldest")
class FencingGuardTest {
  private static final List<Integer> ISOLATIONS = List.of(
      Connection.TRANSACTION_READ_COMMITTED,
      Connection.TRANSACTION_REPEATABLE_READ,
      Connection.TRANSACTION_SERIALIZABLE);

  static Stream<Arguments> everywhere() {
    return Stream.of(SqlKind.values())
        .flatMap(kind -> ISOLATIONS.stream().map(isolation -> Arguments.of(kind, isolation)));
  }

  private static SqlServer ready(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    server.dropTables();
    FencingGuard.createTable(server.dataSource());
    return server;
  }

  private static Connection transaction(SqlServer server, int isolation) throws SQLException {
    Connection connection = server.connect();
    connection.setTransactionIsolation(isolation);
    connection.setAutoCommit(false);
    return connection;
  }

  @ParameterizedTest
  @MethodSource("everywhere")
  void anOlderToken_isRefused_anEqualOneIsNot(SqlKind kind, int isolation) throws SQLException {
    SqlServer server = ready(kind);
    try (Connection connection = transaction(server, isolation)) {
      FencingGuard.check(connection, "account:1", 10);
      FencingGuard.check(connection, "account:1", 10);
      connection.commit();
      FencingGuard.check(connection, "account:1", 10);
      FencingGuard.check(connection, "account:2", 1);
      FencingGuard.check(connection, "account:1", Long.MAX_VALUE);
      connection.commit();

      StaleTokenException stale = catchThrowableOfType(
          StaleTokenException.class, () -> FencingGuard.check(connection, "account:1", 11));
      assertThat(stale.token()).isEqualTo(11);
      assertThat(stale.newest()).isEqualTo(Long.MAX_VALUE);
      assertThat(stale).hasMessageContaining("account:1");
      assertThat(stale.store()).contains(SqlServer.DATABASE).doesNotContain(server.password());

      // the transaction goes on, and the refused token has changed nothing
      FencingGuard.check(connection, "account:2", 2);
      connection.commit();
      assertThatThrownBy(() -> FencingGuard.check(connection, "account:1", 12))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aRollback_forgetsTheToken_aResetForgetsAll(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    try (Connection connection = transaction(server, Connection.TRANSACTION_READ_COMMITTED)) {
      FencingGuard.check(connection, "r", 5);
      connection.commit();
      FencingGuard.check(connection, "r", 9);
      connection.rollback();
      FencingGuard.check(connection, "r", 6);
      connection.commit();

      FencingGuard.reset(connection, "r");
      connection.rollback();
      assertThatThrownBy(() -> FencingGuard.check(connection, "r", 1))
          .isInstanceOf(StaleTokenException.class);
      FencingGuard.reset(connection, "r");
      FencingGuard.reset(connection, "never seen");
      connection.commit();
      FencingGuard.check(connection, "r", 1);
      connection.commit();
    }
  }

  /** What is documented: with the savepoint goes the check, and on PostgreSQL the resource's lock. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aRollbackToASavepointBeforeTheCheck_undoesIt(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    try (Connection connection = transaction(server, Connection.TRANSACTION_READ_COMMITTED);
        Connection older = transaction(server, Connection.TRANSACTION_READ_COMMITTED)) {
      FencingGuard.check(connection, "r", 5);
      connection.commit();
      Savepoint before = connection.setSavepoint();
      FencingGuard.check(connection, "r", 9);
      connection.rollback(before);
      if (kind != SqlKind.POSTGRESQL) {
        connection.commit();
      }
      FencingGuard.check(older, "r", 7);
      older.commit();
      // checked once more, it is refused as it should be
      assertThatThrownBy(() -> FencingGuard.check(connection, "r", 6))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
  }

  /** Names that differ by case, trailing blank, accent or Unicode form are different resources. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void resourcesAreComparedByTheirBytes(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    try (Connection connection = transaction(server, Connection.TRANSACTION_READ_COMMITTED)) {
      long token = 100;
      for (String name : List.of(
          "name", "Name", "name ", "nam\u00e9", "name\u0301", "\ud83d\ude00", "n".repeat(512))) {
        FencingGuard.check(connection, name, token--);
      }
      connection.commit();
    }
  }

  /**
   * Two transactions at once: the second waits, and has then no way past the newer token. Above READ COMMITTED PostgreSQL
   * says so by a serialization failure, MariaDB by one of its own, and both by the token when the transaction is repeated.
   */
  @ParameterizedTest
  @MethodSource("everywhere")
  void theOlderTokenWaits_andIsRefused(SqlKind kind, int isolation) throws SQLException {
    SqlServer server = ready(kind);
    for (boolean seenBefore : List.of(false, true)) {
      String resource = "seen before: " + seenBefore;
      try (Connection newer = transaction(server, isolation);
          Connection older = transaction(server, isolation)) {
        if (seenBefore) {
          FencingGuard.check(newer, resource, 1);
          newer.commit();
        }
        FencingGuard.check(newer, resource, 8);
        CompletableFuture<String> late =
            CompletableFuture.supplyAsync(() -> write(older, resource, 7));
        Blocked.until(server, 1);
        assertThat(late).isNotDone();
        newer.commit();
        assertThat(late.join()).isIn("stale", "retry");
        if (late.join().equals("retry")) {
          assertThat(isolation).isIn(isolationsThatRefuse(kind));
          assertThat(write(older, resource, 7)).isEqualTo("stale");
        }
      }
    }
  }

  /** The other order: the newer one waits for the older one, which is not late yet, and writes after it. */
  @ParameterizedTest
  @MethodSource("everywhere")
  void theNewerTokenWaits_andPasses(SqlKind kind, int isolation) throws SQLException {
    SqlServer server = ready(kind);
    try (Connection newer = transaction(server, isolation);
        Connection older = transaction(server, isolation)) {
      FencingGuard.check(older, "r", 7);
      CompletableFuture<String> next = CompletableFuture.supplyAsync(() -> write(newer, "r", 8));
      Blocked.until(server, 1);
      assertThat(next).isNotDone();
      older.commit();
      assertThat(next.join().equals("retry") ? write(newer, "r", 8) : next.join())
          .isEqualTo("written");
      assertThat(write(older, "r", 7)).isEqualTo("stale");
    }
  }

  /** If the newer one is rolled back, nobody has written with its token, and the older one passes. */
  @ParameterizedTest
  @MethodSource("everywhere")
  void theOlderTokenPasses_ifTheNewerOneIsRolledBack(SqlKind kind, int isolation)
      throws SQLException {
    SqlServer server = ready(kind);
    try (Connection newer = transaction(server, isolation);
        Connection older = transaction(server, isolation)) {
      FencingGuard.check(newer, "r", 8);
      CompletableFuture<String> late = CompletableFuture.supplyAsync(() -> write(older, "r", 7));
      Blocked.until(server, 1);
      newer.rollback();
      assertThat(late.join()).isEqualTo("written");
    }
  }

  /** Where a row that was changed while the transaction waited for it fails the transaction. */
  private static List<Integer> isolationsThatRefuse(SqlKind kind) {
    return switch (kind) {
      case POSTGRESQL ->
        List.of(Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE);
      // from 11.6.2 on
      case MARIADB -> List.of(Connection.TRANSACTION_SERIALIZABLE);
      case MYSQL -> List.of();
    };
  }

  private static String write(Connection connection, String resource, long token) {
    try {
      try {
        FencingGuard.check(connection, resource, token);
        connection.commit();
        return "written";
      } catch (StaleTokenException e) {
        connection.rollback();
        return "stale";
      } catch (SQLException e) {
        connection.rollback();
        assertThat(JdbcErrors.isConflict(e)).as("%s", e).isTrue();
        return "retry";
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A driver that counts changed rows instead of found ones makes no difference. */
  @ParameterizedTest
  @EnumSource(
      value = SqlKind.class,
      names = {"MARIADB", "MYSQL"})
  void changedRowsMayBeCounted(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    Properties settings = new Properties();
    settings.setProperty("user", server.user());
    settings.setProperty("password", server.password());
    settings.setProperty("useAffectedRows", "true");
    try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), settings)) {
      connection.setAutoCommit(false);
      FencingGuard.check(connection, "r", 5);
      FencingGuard.check(connection, "r", 5);
      assertThatThrownBy(() -> FencingGuard.check(connection, "r", 4))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
    }
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void misuseIsRefused(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    try (Connection connection = server.connect()) {
      assertThatThrownBy(() -> FencingGuard.check(connection, "r", 5))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("setAutoCommit(false)");
      connection.setAutoCommit(false);
      for (long token : new long[] {0, -1, Long.MIN_VALUE}) {
        assertThatThrownBy(() -> FencingGuard.check(connection, "r", token))
            .isInstanceOf(IllegalArgumentException.class);
      }
      assertThatThrownBy(() -> FencingGuard.check(connection, "", 5))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** The table is made by whoever comes first, and its absence is explained. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void theTableIsMadeOnce(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    server.dropTables();
    try (Connection connection = server.connect()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> FencingGuard.check(connection, "r", 5))
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining("createTable");
      connection.rollback();
    }
    CompletableFuture.allOf(Stream.generate(() -> CompletableFuture.runAsync(
                () -> assertThatCode(() -> FencingGuard.createTable(server.dataSource()))
                    .doesNotThrowAnyException()))
            .limit(4)
            .toArray(CompletableFuture[]::new))
        .join();
    server.dropTables();
    server.execute(FencingGuard.ddl(DatabaseKind.valueOf(kind.name())));
    server.execute(FencingGuard.ddl(DatabaseKind.valueOf(kind.name())));
    assertThat(server.query(server.tables())).hasSize(1);
  }
}
