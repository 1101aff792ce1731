// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.sql.SqlKind;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whether sessions stay with their connections is asked by one thread for all. */
@Tag("stores")
class SessionSourceTest {
  private final AtomicInteger asked = new AtomicInteger();
  private final CompletableFuture<String> released = new CompletableFuture<>();

  /** The first connection that is asked for does not come before it is released. */
  private DataSource hangingOnce() {
    DataSource source = SqlKind.POSTGRESQL.shared().dataSource();
    return (DataSource) Proxy.newProxyInstance(
        DataSource.class.getClassLoader(),
        new Class<?>[] {DataSource.class},
        (proxy, method, arguments) -> {
          if (asked.incrementAndGet() == 1) {
            released.join();
          }
          return method.invoke(source, arguments);
        });
  }

  private static CompletableFuture<String> asking(SessionSource source) {
    CompletableFuture<String> answered = new CompletableFuture<>();
    Thread thread = new Thread(() -> {
      try {
        source.requireSessions(LockKey.of("x"));
        answered.complete("kept");
      } catch (SQLException | RuntimeException e) {
        answered.completeExceptionally(e);
      }
    });
    thread.setDaemon(true);
    thread.start();
    return answered;
  }

  /** Who asks hangs: somebody else asks instead, and who comes later is not kept waiting at all. */
  @Test
  void askingThatHangs_isDoneByAnother() throws Exception {
    SessionSource source = new SessionSource(hangingOnce());
    CompletableFuture<String> hangs = asking(source);
    Await.until("the first one hangs", () -> asked.get() == 1);

    assertThat(Await.value(asking(source))).isEqualTo("kept");
    assertThat(source.isKnown()).isTrue();
    assertThat(hangs).isNotDone();

    released.complete("");
    assertThat(Await.value(hangs)).isEqualTo("kept");
    assertThat(source.isKnown()).isTrue();
    assertThat(asked).as("no second one for who came late with a first").hasValue(3);
  }
}
