// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.sql.MySqlFamily;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import io.holdfast.testkit.sql.UrlDataSource;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Session locks exclude, end with their connection, and leave none behind. */
@Tag("stores")
@Tag("oldest")
class SessionLockTest {
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final Duration LONG = Duration.ofMinutes(1);

  private static void untilOneWaits(SqlServer server) {
    String sql = server instanceof MySqlFamily
        ? "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'"
        : "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    Await.until("one waits", () -> server.query(sql).equals(List.of("1")));
  }

  private static void untilOpen(CountingDataSource source, int many) {
    Await.until(many + " connections are open", () -> {
      try {
        return source.open() == many;
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    });
  }

  private static SessionHold acquire(SessionLock lock, boolean timed) {
    try {
      return timed ? lock.acquire(LONG) : lock.acquire();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The next one waits, and gets it at the release. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void oneHoldsIt_theNextOneWaits(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    CountingDataSource source = new CountingDataSource(server.dataSource());
    SessionLock lock = DataLocks.of(source).sessionLock("a");
    for (boolean timed : new boolean[] {false, true}) {
      SessionHold first = lock.acquire();
      assertThat(first.isValid()).isTrue();
      assertThat(lock.tryAcquire()).isEmpty();
      CompletableFuture<SessionHold> next =
          CompletableFuture.supplyAsync(() -> acquire(lock, timed));
      untilOneWaits(server);
      assertThat(next).isNotDone();
      assertThat(first.release()).isTrue();
      assertThat(first.release()).isFalse();
      assertThat(first.isValid()).isFalse();
      try (SessionHold second = Await.value(next)) {
        assertThat(second.isValid()).isTrue();
        assertThat(second.lockName()).isEqualTo("a");
        assertThat(first.lost()).isNotDone();
      }
    }
    lock.tryAcquire().orElseThrow().close();
    untilOpen(source, 0);
  }

  /** A wait that was given up leaves no connection, and nobody has the lock when its holder has freed it. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void waitsThatEnd_leaveNothing(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    CountingDataSource source = new CountingDataSource(server.dataSource());
    SessionLock lock = DataLocks.of(source).sessionLock("a");
    try (SessionHold holder = lock.acquire()) {
      assertThatThrownBy(() -> lock.acquire(SHORT)).isInstanceOf(AcquireTimeoutException.class);
      assertThatThrownBy(() -> lock.acquire(Duration.ZERO))
          .isInstanceOf(AcquireTimeoutException.class);
      untilOpen(source, 1);

      CompletableFuture<Throwable> end = new CompletableFuture<>();
      Thread waiter = new Thread(() -> {
        try {
          lock.acquire().close();
          end.complete(new AssertionError("acquired"));
        } catch (InterruptedException e) {
          end.complete(e);
        }
      });
      waiter.start();
      untilOneWaits(server);
      waiter.interrupt();
      assertThat(Await.value(end)).isInstanceOf(InterruptedException.class);
      untilOpen(source, 1);
      assertThat(holder.isValid()).isTrue();
    }
    Await.present("the lock is free", lock::tryAcquire).close();
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
    untilOpen(source, 0);
  }

  /** The session is ended by an operator: the holder is told once, and somebody else can have the lock. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  @Warns("lost lock=a: its session has ended")
  void theEndOfTheSession_isTold(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    CountingDataSource source = new CountingDataSource(server.dataSource());
    AtomicInteger told = new AtomicInteger();
    SessionLock lock = DataLocks.of(source).sessionLock("a").onLost(told::incrementAndGet);
    SessionHold hold = lock.acquire();
    String session = server
        .query(
            kind == SqlKind.POSTGRESQL
                ? "SELECT pid FROM pg_locks WHERE locktype = 'advisory'"
                : "SELECT IS_USED_LOCK('a')")
        .get(0);
    if (kind == SqlKind.POSTGRESQL) {
      assertThat(server.query("SELECT pg_terminate_backend(" + session + ")")).hasSize(1);
    } else {
      server.execute("KILL " + session);
    }
    Await.value(hold.lost());
    assertThat(hold.isValid()).isFalse();
    Await.until("the callback was run", () -> told.get() == 1);
    try (SessionHold next = lock.acquire(LONG)) {
      assertThat(hold.release()).isFalse();
      assertThat(next.isValid()).isTrue();
    }
    assertThat(told).hasValue(1);
    untilOpen(source, 0);
  }

  /** The session lives, and has the lock no longer: MySQL and MariaDB say whose it is. */
  @ParameterizedTest
  @EnumSource(
      value = SqlKind.class,
      names = {"MARIADB", "MYSQL"})
  @Warns("lost lock=a: its session has ended")
  void theLossOfTheLockAlone_isTold(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    CountingDataSource source = new CountingDataSource(server.dataSource());
    SessionHold hold = DataLocks.of(source).sessionLock("a").acquire();
    try (Statement statement = source.latest().createStatement()) {
      statement.execute("SELECT RELEASE_LOCK('a')");
    }
    try (SessionHold next = DataLocks.of(server.dataSource()).sessionLock("a").acquire(LONG)) {
      Await.value(hold.lost());
      assertThat(hold.isValid()).isFalse();
      assertThat(hold.release()).isFalse();
      assertThat(next.isValid()).isTrue();
    }
    untilOpen(source, 0);
  }

  /** A server that answers no more: the hold is not valid any more within seconds, whatever the server thinks. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  @Warns("lost lock=a: its session has ended")
  void silence_endsValidity(SqlKind kind) throws Exception {
    try (SqlServer server = kind.start()) {
      SessionHold hold = DataLocks.of(server.dataSource()).sessionLock("a").acquire();
      server.pause();
      try {
        Await.until("it is invalid", () -> !hold.isValid());
        Await.value(hold.lost());
      } finally {
        server.resume();
      }
      assertThat(hold.release()).isFalse();
    }
    SqlServer ended = kind.shared();
    UrlDataSource nobody =
        new UrlDataSource(ended.jdbcUrl().replace(":" + ended.port(), ":1"), "a", "b");
    assertThatThrownBy(() -> DataLocks.of(nobody).sessionLock("a").acquire())
        .isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> DataLocks.of(nobody).sessionLock("a").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
  }

  /** Names that differ by case, trailing blank, accent or Unicode form are different locks. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void namesAreComparedByTheirBytes(SqlKind kind) throws Exception {
    DataLocks locks = DataLocks.of(kind.shared().dataSource());
    try (SessionHold hold = locks.sessionLock("name").acquire()) {
      for (String other : List.of("Name", "name ", "nam\u00e9", "name\u0301", "n".repeat(512))) {
        locks.sessionLock(other).tryAcquire().orElseThrow().close();
      }
      assertThat(locks.sessionLock("name").tryAcquire()).isEmpty();
      assertThat(hold.isValid()).isTrue();
    }
  }

  /** What nobody refers to any more is released. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  @Warns("dropped its hold of lock=a")
  void aForgottenHold_isReleased(SqlKind kind) throws Exception {
    SessionLock lock = DataLocks.of(kind.shared().dataSource()).sessionLock("a");
    assertThat(lock.acquire().isValid()).isTrue();
    Await.present("the lock is free", () -> {
          System.gc();
          return lock.tryAcquire();
        })
        .close();
  }

  /** What other versions and other programs compute. */
  @Test
  void formsOfNames_neverChange() {
    assertThat(SessionKey.forPostgres(LockKey.of("abc"))).isEqualTo(0xba7816bf8f01cfeaL);
    assertThat(SessionKey.forMySql(LockKey.of("order:42"))).isEqualTo("order:42");
    assertThat(SessionKey.forMySql(LockKey.of("n".repeat(64)))).isEqualTo("n".repeat(64));
    assertThat(SessionKey.forMySql(LockKey.of("ABC")))
        .isEqualTo("abc~b5d4045c3f466fa91fe2cc6abe79232a");
    assertThat(SessionKey.forMySql(LockKey.of("N".repeat(65))))
        .hasSize(64)
        .startsWith("n".repeat(31) + "~")
        .isNotEqualTo(SessionKey.forMySql(LockKey.of("n".repeat(65))));
  }
}
