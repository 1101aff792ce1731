// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests that run on the thread that waits for them. */
@Tag("stores")
class CallersThreadTest {
  /** The longest with which callers run their requests themselves. */
  private static final Duration LONG_REQUEST = Duration.ofSeconds(5);

  /** Who has executed statements. */
  private static final class Executors {
    private final Set<Thread> seen = ConcurrentHashMap.newKeySet();

    DataSource of(DataSource source) {
      return proxy(DataSource.class, source);
    }

    private <T> T proxy(Class<T> type, T to) {
      return type.cast(Proxy.newProxyInstance(
          type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getName().startsWith("execute")) {
              seen.add(Thread.currentThread());
            }
            Object result;
            try {
              result = method.invoke(to, arguments);
            } catch (InvocationTargetException e) {
              throw e.getCause();
            }
            if (method.getName().equals("unwrap")) {
              return result;
            }
            if (result instanceof PreparedStatement statement) {
              return proxy(PreparedStatement.class, statement);
            }
            return result instanceof Connection connection
                ? proxy(Connection.class, connection)
                : result;
          }));
    }
  }

  /** As a pool of ours: its connections know nothing of who uses them. */
  private record Ours(DataSource dataSource) implements JdbcSource {
    @Override
    public Connection connect() throws SQLException {
      return dataSource.getConnection();
    }

    @Override
    public Connection connectAside() throws SQLException {
      return dataSource.getConnection();
    }

    @Override
    public boolean sparesOne() {
      return true;
    }

    @Override
    public boolean isOurs() {
      return true;
    }

    @Override
    public void close() {
      // each connection is closed by who has it
    }
  }

  private static Holdfast ours(SqlKind kind, DataSource source) {
    JdbcOptions options = JdbcOptions.DEFAULT;
    JdbcDialect dialect = options.dialect(kind == SqlKind.POSTGRESQL, "test");
    return Holdfast.builder()
        .store(new JdbcStore(new Ours(source), dialect, options, "test"))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build();
  }

  /** Once there is a connection, a call that blocks anyway does its work itself, and no other thread does. */
  @ParameterizedTest
  @EnumSource
  void blockingCalls_runOnTheirThread(SqlKind kind) throws Exception {
    Executors executors = new Executors();
    try (Holdfast holdfast = ours(kind, executors.of(kind.shared().dataSource()))) {
      DistributedLock lock = holdfast.lock("callers");
      Await.until("a connection rests", () -> {
        executors.seen.clear();
        lock.tryAcquire().orElseThrow().release();
        return executors.seen.equals(Set.of(Thread.currentThread()));
      });
      executors.seen.clear();
      Hold hold = Await.value(lock.acquireAsync());
      assertThat(executors.seen).doesNotContain(Thread.currentThread());
      assertThat(hold.release()).isTrue();
    }
  }

  /** The application's connections may join the transaction of the thread that uses them: its threads use none for us. */
  @ParameterizedTest
  @EnumSource
  void givenConnections_areNotUsedOnCallersThreads(SqlKind kind) throws Exception {
    Executors executors = new Executors();
    DataSource source = executors.of(kind.shared().dataSource());
    try (Holdfast holdfast = Holdfast.builder()
        .store(JdbcStore.using(source))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build()) {
      DistributedLock lock = holdfast.lock("callers");
      for (int i = 0; i < 20; i++) {
        lock.acquire().release();
      }
      assertThat(executors.seen).isNotEmpty().doesNotContain(Thread.currentThread());
    }
  }

  /** One caller after the other keeps one connection in use, and not all that a crowd before needed. */
  @Test
  void connectionsOfACrowd_areGivenBackWhileOneCallerGoesOn() throws Exception {
    CountingDataSource source =
        new CountingDataSource(SqlKind.POSTGRESQL.shared().dataSource());
    try (Holdfast holdfast = ours(SqlKind.POSTGRESQL, source)) {
      Await.until("there is a crowd", () -> {
        List<CompletableFuture<Hold>> crowd = IntStream.range(0, 8)
            .mapToObj(i -> holdfast.lock("crowd" + i).acquireAsync())
            .toList();
        crowd.forEach(each -> Await.value(each).release());
        return source.opened() > 4;
      });
      DistributedLock lock = holdfast.lock("callers");
      Await.until("it keeps one, and that for renewals", () -> {
        lock.tryAcquire().orElseThrow().release();
        return open(source) <= 2;
      });
    }
  }

  private static int open(CountingDataSource source) {
    try {
      return source.open();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The server does not answer: an interrupt is heard long before the request's time is up, and nothing stays behind.
   * MariaDB's driver cannot be hung up on while it reads, so that there the request's time has to pass.
   */
  @ParameterizedTest
  @EnumSource
  void interrupt_isHeardWhileTheServerIsSilent(SqlKind kind) throws Exception {
    try (SqlServer server = kind.start();
        Holdfast holdfast = connect(server, LONG_REQUEST)) {
      DistributedLock lock = holdfast.lock("silent");
      Call<Hold> waiting = callOfASilentServer(server, lock);
      long interrupted = System.nanoTime();
      waiting.interrupt();
      assertThat(Await.failure(waiting.result)).isInstanceOf(InterruptedException.class);
      if (kind != SqlKind.MARIADB) {
        assertThat(Duration.ofNanos(System.nanoTime() - interrupted)).isLessThan(LONG_REQUEST);
      }
      server.resume();
      lock.acquire(Duration.ofSeconds(30)).release();
    }
  }

  /** A call with less time than a request leaves it to another thread, and returns when the one attempt is given up. */
  @Test
  void briefCall_returnsWhileTheServerIsSilent() throws Exception {
    try (SqlServer server = SqlKind.POSTGRESQL.start();
        Holdfast holdfast = connect(server, LONG_REQUEST)) {
      DistributedLock lock = holdfast.lock("silent");
      lock.acquire().release();
      server.pause();
      assertThatThrownBy(() -> lock.acquire(Duration.ofMillis(100)))
          .isInstanceOf(AcquireUnknownException.class);
      server.resume();
    }
  }

  /** Who releases is told that the store does not answer, and the lock is free soon after it does. */
  @ParameterizedTest
  @EnumSource
  void release_isToldWhileTheServerIsSilent(SqlKind kind) throws Exception {
    try (SqlServer server = kind.start();
        Holdfast holdfast = connect(server, Duration.ofSeconds(2))) {
      DistributedLock lock = holdfast.lock("silent");
      Hold hold = lock.acquire();
      server.pause();
      assertThatThrownBy(hold::release).isInstanceOf(StoreUnavailableException.class);
      server.resume();
      lock.acquire(Duration.ofSeconds(30)).release();
    }
  }

  /** The client closes under a call that the server does not answer. */
  @Test
  void close_endsACallThatTheServerDoesNotAnswer() throws Exception {
    try (SqlServer server = SqlKind.POSTGRESQL.start()) {
      // closing waits for answers for as long as a request may take
      Holdfast holdfast = connect(server, Duration.ofSeconds(3));
      DistributedLock lock = holdfast.lock("silent");
      Call<Hold> waiting = callOfASilentServer(server, lock);
      holdfast.close();
      assertThat(Await.failure(waiting.result)).isInstanceOf(IllegalStateException.class);
      server.resume();
    }
  }

  /** Begins a call that reads an answer which does not come. Only where a connection rests does it read itself. */
  private static Call<Hold> callOfASilentServer(SqlServer server, DistributedLock lock)
      throws InterruptedException {
    while (true) {
      lock.acquire().release();
      server.pause();
      Call<Hold> waiting = new Call<>(lock::acquire);
      if (waiting.readsSoon()) {
        return waiting;
      }
      server.resume();
      waiting.interrupt();
      waiting.join();
      if (!waiting.result.isCompletedExceptionally()) {
        waiting.result.join().release();
      }
    }
  }

  private static Holdfast connect(SqlServer server, Duration requestTimeout) {
    return Holdfast.builder()
        .store(server.storeUri())
        .requestTimeout(requestTimeout)
        .build();
  }

  /** A call on a thread of its own. */
  private static final class Call<T> extends Thread {
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final Callable<T> work;

    Call(Callable<T> work) {
      this.work = work;
      setDaemon(true);
      start();
    }

    @Override
    public void run() {
      try {
        result.complete(work.call());
      } catch (Exception e) {
        result.completeExceptionally(e);
      }
    }

    /** Whether it begins to wait for bytes of the server, and not for another thread. */
    boolean readsSoon() {
      return Await.present("it waits", () -> {
        if (reads()) {
          return Optional.of(true);
        }
        return getState() == State.WAITING || getState() == State.TIMED_WAITING
            ? Optional.of(false)
            : Optional.empty();
      });
    }

    private boolean reads() {
      for (StackTraceElement each : getStackTrace()) {
        if (each.getMethodName().equals("read") && each.getClassName().startsWith("sun.nio.ch.")) {
          return true;
        }
      }
      return false;
    }
  }
}
