// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.WriteUnknownException;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Work is committed once, and only if nobody else came first. */
@Tag("stores")
@Tag("oldest")
class OptimisticLockTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private static SqlServer ready(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    server.dropTables();
    try (Connection connection = server.connect()) {
      execute(connection, "CREATE TABLE counter (id INT PRIMARY KEY, n INT, version INT)");
      execute(connection, "INSERT INTO counter VALUES (1, 0, 0)");
    }
    return server;
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static int read(Connection connection, String column) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT " + column + " FROM counter")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  private static void count(Connection connection) throws SQLException {
    execute(connection, "UPDATE counter SET n = " + (read(connection, "n") + 1));
  }

  private static int counter(SqlServer server) throws SQLException {
    try (Connection connection = server.connect()) {
      return read(connection, "n");
    }
  }

  private static void together(int threads, Runnable task) {
    CompletableFuture.allOf(Stream.generate(() -> CompletableFuture.runAsync(task))
            .limit(threads)
            .toArray(CompletableFuture[]::new))
        .join();
  }

  /** Nothing is lost, though all read before they write, and nobody knew the name before. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void countersCountRight(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    CountingDataSource source = new CountingDataSource(server.dataSource());
    together(4, () -> {
      OptimisticLock lock = DataLocks.of(source).optimistic("counter").within(1000, LONG);
      for (int i = 0; i < 25; i++) {
        try {
          lock.run(OptimisticLockTest::count);
        } catch (SQLException | InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    });
    assertThat(counter(server)).isEqualTo(100);
    assertThat(source.open()).isZero();
  }

  /** The other one commits between our reading and our commit: our work is undone, and done anew. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aConflict_beginsAnew(SqlKind kind) throws Exception {
    SqlServer server = ready(kind);
    DataLocks locks = DataLocks.of(server.dataSource());
    AtomicInteger attempts = new AtomicInteger();
    int result = locks.optimistic("a").call(connection -> {
      int seen = read(connection, "n");
      if (attempts.incrementAndGet() <= 2) {
        other(locks, "a");
      }
      execute(connection, "UPDATE counter SET n = " + (seen + 100));
      return seen;
    });
    assertThat(attempts).hasValue(3);
    assertThat(result).isEqualTo(2);
    assertThat(counter(server)).isEqualTo(102);

    // another name is no conflict, and neither is a name that differs by case
    attempts.set(0);
    locks.optimistic("b").run(connection -> {
      attempts.incrementAndGet();
      other(locks, "c");
      other(locks, "B");
    });
    assertThat(attempts).hasValue(1);
  }

  private static void other(DataLocks locks, String name) throws SQLException {
    CompletableFuture.runAsync(() -> {
          try {
            locks.optimistic(name).run(OptimisticLockTest::count);
          } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
          }
        })
        .join();
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void theLimit_isTold_andNothingIsCommitted(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    DataLocks locks = DataLocks.of(server.dataSource());
    AtomicInteger attempts = new AtomicInteger();
    assertThatThrownBy(() -> locks.optimistic("a").within(3, LONG).run(connection -> {
          attempts.incrementAndGet();
          other(locks, "a");
          execute(connection, "UPDATE counter SET n = 1000");
        }))
        .isInstanceOfSatisfying(
            VersionConflictException.class, e -> assertThat(e.attempts()).isEqualTo(3));
    assertThat(attempts).hasValue(3);
    assertThat(counter(server)).isEqualTo(3);
    assertThatThrownBy(() -> locks
            .optimistic("a")
            .within(1000, Duration.ofNanos(1))
            .run(connection -> other(locks, "a")))
        .isInstanceOfSatisfying(
            VersionConflictException.class, e -> assertThat(e.attempts()).isEqualTo(1));
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void whatTheWorkThrows_isThrownOn_andUndone(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    CountingDataSource source = new CountingDataSource(server.dataSource());
    OptimisticLock lock = DataLocks.of(source).optimistic("a");
    assertThatThrownBy(() -> lock.run(connection -> {
          count(connection);
          throw new IOException("no");
        }))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> lock.run(connection -> {
          count(connection);
          execute(connection, "SELECT nothing FROM nowhere");
        }))
        .isInstanceOf(SQLException.class);
    assertThat(counter(server)).isZero();
    assertThat(source.open()).isZero();
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void anInterrupt_endsItBetweenAttempts(SqlKind kind) throws SQLException {
    SqlServer server = ready(kind);
    DataLocks locks = DataLocks.of(server.dataSource());
    AtomicInteger attempts = new AtomicInteger();
    assertThatThrownBy(() -> locks.optimistic("a").run(connection -> {
          attempts.incrementAndGet();
          other(locks, "a");
          Thread.currentThread().interrupt();
        }))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(attempts).hasValue(1);
  }

  /** The connection is gone when it comes to the commit: nobody may say that it failed, or do it again. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aCommitWithoutAnAnswer_isUnknown(SqlKind kind) throws Exception {
    SqlServer server = ready(kind);
    DataLocks locks = DataLocks.of(server.dataSource());
    locks.optimistic("a").run(OptimisticLockTest::count);
    AtomicInteger attempts = new AtomicInteger();
    BreakingCommit broken = new BreakingCommit(server.dataSource());
    assertThatThrownBy(() -> DataLocks.of(broken.dataSource()).optimistic("a").run(connection -> {
          attempts.incrementAndGet();
          count(connection);
        }))
        .isInstanceOf(WriteUnknownException.class);
    assertThat(attempts).hasValue(1);
    assertThat(counter(server)).isEqualTo(2);
  }

  /** A version in the application's own row: the second writer is refused, and begins anew within a lock. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void aVersionColumn_isRaisedOnce(SqlKind kind) throws Exception {
    SqlServer server = ready(kind);
    VersionColumn column = VersionColumn.of("counter", "id", "version");
    try (Connection connection = server.connect()) {
      column.raise(connection, 1, 0);
      assertThat(read(connection, "version")).isEqualTo(1);
      for (int[] each : new int[][] {{1, 0}, {1, 2}, {2, 0}}) {
        assertThatThrownBy(() -> column.raise(connection, each[0], each[1]))
            .isInstanceOf(VersionConflictException.class);
      }
      assertThat(read(connection, "version")).isEqualTo(1);
    }
    AtomicInteger attempts = new AtomicInteger();
    DataLocks.of(server.dataSource()).optimistic("a").run(connection -> {
      int seen = read(connection, "version");
      if (attempts.incrementAndGet() == 1) {
        try (Connection other = server.connect()) {
          column.raise(other, 1, seen);
        }
      }
      column.raise(connection, 1, seen);
    });
    assertThat(attempts).hasValue(2);
    try (Connection connection = server.connect()) {
      assertThat(read(connection, "version")).isEqualTo(3);
    }
    for (String bad : new String[] {"", "a b", "a;b", "a--", "1a", "a.", "a\""}) {
      assertThatThrownBy(() -> VersionColumn.of(bad, "id", "version"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
