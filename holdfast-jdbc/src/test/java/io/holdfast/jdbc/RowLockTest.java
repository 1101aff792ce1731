// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.testkit.sql.MySqlFamily;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Row locks exclude, end with the transaction, and leave it usable when they are busy. */
@Tag("stores")
@Tag("oldest")
class RowLockTest {
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofMinutes(1);

  private static SqlServer ready(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    server.dropTables();
    try (Connection connection = server.connect()) {
      execute(connection, "CREATE TABLE counter (n INT)");
      execute(connection, "INSERT INTO counter VALUES (0)");
    }
    return server;
  }

  private static Connection transaction(SqlServer server) throws SQLException {
    Connection connection = server.connect();
    if (!(server instanceof MySqlFamily)) {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }
    connection.setAutoCommit(false);
    return connection;
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static int read(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT n FROM counter")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  private static String limit(Connection connection) throws SQLException {
    String sql = DatabaseKind.of(connection).isPostgres()
        ? "SHOW lock_timeout"
        : "SELECT @@SESSION.innodb_lock_wait_timeout";
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  /** The next one waits, until the commit and until the rollback. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void theTransactionsEnd_isTheRelease(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("a");
    for (boolean commits : List.of(true, false)) {
      // closed in the other order, one that still waits would wait for what is closed after it
      try (Connection second = transaction(server);
          Connection first = transaction(server)) {
        lock.hold(first);
        lock.hold(first);
        for (Duration limit : List.of(Duration.ofDays(100_000), LONG)) {
          CompletableFuture<Void> next =
              CompletableFuture.runAsync(() -> hold(lock, second, limit));
          Blocked.until(server, 1);
          assertThat(next).isNotDone();
          if (commits) {
            first.commit();
          } else {
            first.rollback();
          }
          next.join();
          assertThat(lock.tryHold(first)).isFalse();
          second.rollback();
          lock.hold(first);
        }
      }
    }
  }

  private static void hold(RowLock lock, Connection connection, Duration limit) {
    try {
      if (limit.equals(LONG)) {
        lock.hold(connection);
      } else {
        lock.hold(connection, limit);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Who holds it reads what the one before has written, and nothing is lost. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void countersCountRight(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("counter");
    CompletableFuture.allOf(
            Stream.generate(() -> CompletableFuture.runAsync(() -> count(server, lock)))
                .limit(4)
                .toArray(CompletableFuture[]::new))
        .join();
    assertThat(server.query("SELECT n FROM counter")).containsExactly("100");
  }

  private static void count(SqlServer server, RowLock lock) {
    try (Connection connection = transaction(server)) {
      for (int i = 0; i < 25; i++) {
        if (i % 3 == 0) {
          lock.hold(connection, LONG);
        } else {
          lock.hold(connection);
        }
        execute(connection, "UPDATE counter SET n = " + (read(connection) + 1));
        connection.commit();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The transaction goes on, with what it has done before, and its own limit is as it was. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aBusyLock_leavesTheTransactionUsable(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("a");
    try (Connection first = transaction(server);
        Connection second = transaction(server)) {
      execute(
          second,
          kind == SqlKind.POSTGRESQL
              ? "SET lock_timeout = '47s'"
              : "SET SESSION innodb_lock_wait_timeout = 47");
      second.commit();
      String limit = limit(second);
      assertThat(limit).contains("47");
      lock.hold(first);

      execute(second, "UPDATE counter SET n = 7");
      assertThat(lock.tryHold(second)).isFalse();
      assertThat(limit(second)).isEqualTo(limit);
      for (Duration wait : List.of(SHORT, Duration.ZERO, SHORT.negated())) {
        assertThatThrownBy(() -> lock.hold(second, wait))
            .isInstanceOfSatisfying(AcquireTimeoutException.class, e -> {
              assertThat(e.lockName()).contains("a");
              assertThat(e.waited()).isLessThan(Duration.ofSeconds(20));
            });
        assertThat(limit(second)).isEqualTo(limit);
      }
      first.commit();
      lock.hold(second, LONG);
      assertThat(limit(second)).isEqualTo(limit);
      assertThat(lock.tryHold(first)).isFalse();
      second.commit();
      assertThat(read(first)).isEqualTo(7);
      first.rollback();
      assertThat(lock.tryHold(first)).isTrue();
    }
  }

  /** The connection's own limit is told as what it is. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void theConnectionsOwnLimit_isATimeout(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("a");
    try (Connection first = transaction(server);
        Connection second = transaction(server)) {
      lock.hold(first);
      execute(
          second,
          kind == SqlKind.POSTGRESQL
              ? "SET lock_timeout = '50ms'"
              : "SET SESSION innodb_lock_wait_timeout = 1");
      second.commit();
      assertThatThrownBy(() -> lock.hold(second)).isInstanceOf(AcquireTimeoutException.class);
      second.rollback();
    }
  }

  /** The row of a new name is there for others at once, and stays when the transaction that asked first is undone. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void rowsAreMadeByATransactionOfTheirOwn(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    DataLocks locks = DataLocks.of(server.dataSource());
    try (Connection first = transaction(server);
        Connection second = transaction(server)) {
      execute(first, "UPDATE counter SET n = 7");
      locks.rowLock("a").hold(first);
      locks.rowLock("b").hold(first);
      assertThat(DataLocks.of(server.dataSource()).rowLock("a").tryHold(second)).isFalse();
      assertThat(locks.rowLock("c").tryHold(second)).isTrue();
      first.rollback();
      second.rollback();
      assertThat(server.query("SELECT count(*) FROM holdfast_row")).containsExactly("3");
      assertThat(server.query("SELECT n FROM counter")).containsExactly("0");
    }
  }

  /** Many come at once, and none of them knows the name or the table yet. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void manyMayComeFirst(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    CompletableFuture.allOf(Stream.generate(() -> CompletableFuture.runAsync(
                () -> count(server, DataLocks.of(server.dataSource()).rowLock("new"))))
            .limit(4)
            .toArray(CompletableFuture[]::new))
        .join();
    assertThat(server.query("SELECT n FROM counter")).containsExactly("100");
  }

  /** Only the first use of a name opens a connection of its own. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aKnownRow_needsNoSecondConnection(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    CountingDataSource source = new CountingDataSource(server.dataSource());
    RowLock lock = DataLocks.of(source).rowLock("a");
    lock.makeRow();
    assertThat(source.opened()).isEqualTo(1);
    try (Connection connection = transaction(server)) {
      lock.hold(connection);
      assertThat(lock.tryHold(connection)).isTrue();
    }
    assertThat(source.opened()).isEqualTo(1);
  }

  /** Somebody empties the table: the transaction has to be repeated, and finds a new row. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aRemovedRow_isMadeAnew(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("a");
    try (Connection connection = transaction(server)) {
      lock.hold(connection);
      connection.commit();
      server.execute("DELETE FROM holdfast_row");
      assertThatThrownBy(() -> lock.hold(connection))
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
      connection.rollback();
      lock.hold(connection, LONG);
      connection.rollback();
    }
  }

  /** Names that differ by case, trailing blank, accent or Unicode form are different locks. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void namesAreComparedByTheirBytes(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    DataLocks locks = DataLocks.of(server.dataSource());
    try (Connection first = transaction(server);
        Connection second = transaction(server)) {
      locks.rowLock("name").hold(first);
      for (String other : List.of("Name", "name ", "nam\u00e9", "name\u0301", "n".repeat(512))) {
        assertThat(locks.rowLock(other).tryHold(second)).as(other).isTrue();
      }
      assertThat(locks.rowLock("name").tryHold(second)).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void misuseIsRefused(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("a");
    try (Connection connection = server.connect()) {
      assertThatThrownBy(() -> lock.hold(connection))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("setAutoCommit(false)");
      assertThatThrownBy(() -> lock.hold(connection, LONG))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> lock.tryHold(connection)).isInstanceOf(IllegalStateException.class);
    }
    assertThatThrownBy(() -> DataLocks.of(server.dataSource()).rowLock(""))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /**
   * PostgreSQL would show the state before the wait; MySQL and MariaDB read for the first time after it. MariaDB, from 11.6.2 on,
   * counts a locking read as one, and every read locks when serializable: it refuses what it cannot show.
   */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void oldSnapshotsAreRefused(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    RowLock lock = DataLocks.of(server.dataSource()).rowLock("a");
    for (int isolation :
        List.of(Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE)) {
      try (Connection first = transaction(server);
          Connection second = server.connect()) {
        second.setTransactionIsolation(isolation);
        second.setAutoCommit(false);
        execute(first, "UPDATE counter SET n = 0");
        first.commit();
        if (kind == SqlKind.POSTGRESQL) {
          lock.makeRow();
          assertThatThrownBy(() -> lock.hold(second))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("READ COMMITTED");
          continue;
        }
        lock.hold(first);
        CompletableFuture<Void> next = CompletableFuture.runAsync(() -> hold(lock, second, LONG));
        Blocked.until(server, 1);
        execute(first, "UPDATE counter SET n = 9");
        first.commit();
        next.join();
        try {
          assertThat(read(second)).isEqualTo(9);
        } catch (SQLException e) {
          assertThat(isolation).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
          assertThat(JdbcErrors.isConflict(e)).as("%s", e).isTrue();
        }
        second.rollback();
      }
    }
  }

  /** All tables that the printed statements make are those that are used. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void theTablesCanBeMadeByHand(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    for (String each : DataLocks.ddl(DatabaseKind.valueOf(kind.name())).split(";\n", -1)) {
      if (!each.isEmpty()) {
        server.execute(each);
      }
    }
    List<String> byHand = server.query(server.tables());
    server.dropTables();
    DataLocks.of(server.dataSource()).createTables();
    server.execute("CREATE TABLE counter (n INT)");
    assertThat(server.query(server.tables())).containsExactlyInAnyOrderElementsOf(byHand);
  }
}
