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
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests that run on the thread that waits for them. */
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

  /** Once there is a connection, a call that blocks anyway does its work itself, and no other thread does. */
  @ParameterizedTest
  @EnumSource
  void blockingCalls_runOnTheirThread(SqlKind kind) throws Exception {
    Executors executors = new Executors();
    DataSource source = executors.of(kind.shared().dataSource());
    try (Holdfast holdfast = Holdfast.builder().store(JdbcStore.using(source)).build()) {
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
      lock.acquire().release();
      server.pause();
      Call<Hold> waiting = new Call<>(lock::acquire);
      Await.until("it reads", waiting::reads);
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

  /** A call with less time than a request returns in its time. */
  @Test
  void briefCall_returnsWhileTheServerIsSilent() throws Exception {
    try (SqlServer server = SqlKind.POSTGRESQL.start();
        Holdfast holdfast = connect(server, Duration.ofSeconds(5))) {
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
      lock.acquire().release();
      server.pause();
      Call<Hold> waiting = new Call<>(lock::acquire);
      Await.until("it reads", waiting::reads);
      holdfast.close();
      assertThat(Await.failure(waiting.result)).isInstanceOf(IllegalStateException.class);
      server.resume();
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

    /** Whether it waits for bytes of the server. */
    boolean reads() {
      for (StackTraceElement each : getStackTrace()) {
        if (each.getMethodName().equals("read") && each.getClassName().startsWith("sun.nio.ch.")) {
          return true;
        }
      }
      return false;
    }
  }
}
