// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.sql.Connection;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Threads with a connection each, where connections do not come, or not as they should. */
class JdbcLaneTest {
  /** A lane of one. */
  static JdbcLane lane(JdbcSource source) {
    return lane(source, StubSource.proxy(JdbcDialect.class, method -> switch (method) {
      case "kind" -> JdbcErrors.Kind.BROKEN;
      default -> JdbcDialect.Setup.NOTHING;
    }));
  }

  static JdbcLane lane(JdbcSource source, JdbcDialect dialect) {
    Ticker ticker = Ticker.system();
    return new JdbcLane(
        "test",
        1,
        true,
        new JdbcContext(
            source,
            dialect,
            JdbcOptions.DEFAULT,
            "test",
            new StoreRuntime(
                "c",
                ticker,
                (task, nanos) -> () -> {},
                new SplittableRandom(1),
                Duration.ofSeconds(10)),
            StubSource.proxy(StoreEvents.class, method -> ""),
            new JdbcClock(ticker)));
  }

  /** A class that is missing, memory that is used up: each request hears of it, and none is tried without end. */
  @Test
  void anErrorWhileConnecting_isToldToTheNextRequest() {
    StubSource source = new StubSource(time -> {
      if (time <= 2) {
        throw new NoClassDefFoundError("of a driver");
      }
      return StubSource.connection(() -> {});
    });
    JdbcLane lane = lane(source);
    for (int i = 0; i < 2; i++) {
      CompletableFuture<String> failing = lane.submit(session -> "done");
      assertThat(Await.failure(failing))
          .isInstanceOf(StoreException.class)
          .hasRootCauseInstanceOf(NoClassDefFoundError.class)
          .hasMessageContaining("of a driver");
    }
    String done = Await.value(lane.submit(session -> "done"));
    assertThat(done).isEqualTo("done");
    assertThat(source.asked).hasValue(3);
    lane.close();
  }

  /** What fails while it is set up is closed: a pool counts it as lent until then. */
  @Test
  void anErrorWhileSettingUp_closesTheConnection() {
    AtomicInteger closed = new AtomicInteger();
    JdbcLane lane = lane(new StubSource(time -> StubSource.proxy(Connection.class, method -> {
      if (method.equals("close")) {
        return closed.incrementAndGet();
      }
      throw new NoClassDefFoundError("of a driver");
    })));
    assertThat(Await.failure(lane.submit(session -> "done"))).isInstanceOf(StoreException.class);
    assertThat(closed).hasValue(1);
    lane.close();
  }
}
