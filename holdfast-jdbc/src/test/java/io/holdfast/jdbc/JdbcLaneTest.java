// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Threads with a connection each, where connections do not come, or not as they should. */
class JdbcLaneTest {
  private static final JdbcDialect DIALECT =
      StubSource.proxy(JdbcDialect.class, method -> switch (method) {
        case "kind" -> JdbcErrors.Kind.BROKEN;
        default -> JdbcDialect.Setup.NOTHING;
      });

  /** A lane of one. */
  static JdbcLane lane(JdbcSource source) {
    return lane(source, DIALECT);
  }

  static JdbcLane lane(JdbcSource source, JdbcDialect dialect) {
    return lane("test", 1, source, dialect);
  }

  private static JdbcLane lane(String role, int most, JdbcSource source, JdbcDialect dialect) {
    Ticker ticker = Ticker.system();
    return new JdbcLane(
        role,
        most,
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

  /** As a connection that is written in Kotlin or Scala may: the request fails, the connection is given up, the thread goes on. */
  @Test
  void statementThatThrowsWhatIsNotDeclared_hasFailed() {
    AtomicInteger closed = new AtomicInteger();
    StubSource source = new StubSource(time -> StubSource.connection(closed::incrementAndGet));
    JdbcLane lane = lane(source);
    assertThat(Await.failure(lane.submit(session -> {
          throw JdbcLaneTest.<RuntimeException>undeclared(new IOException("no route"));
        })))
        .hasMessageContaining("no route");
    Await.until("it is given up", () -> closed.get() == 1);
    String done = Await.value(lane.submit(session -> "done"));
    assertThat(done).isEqualTo("done");
    assertThat(source.asked).hasValue(2);
    lane.close();
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <E extends Throwable> E undeclared(Throwable what) throws E {
    throw (E) what;
  }

  /** One of two threads has lost its connection, and there is no other to be had: what is asked then is done by the other. */
  @Test
  void threadWithoutAConnection_isCalledLast() {
    CompletableFuture<Boolean> given = new CompletableFuture<>();
    StubSource source = new StubSource(time -> {
      if (time > 2) {
        given.join();
      }
      return StubSource.connection(() -> {});
    });
    JdbcLane lane = lane("resting", 2, source, DIALECT);
    CompletableFuture<Boolean> together = new CompletableFuture<>();
    CompletableFuture<Boolean> breaks = new CompletableFuture<>();
    CompletableFuture<String> broken = lane.submit(session -> {
      together.join();
      breaks.join();
      throw new SQLException("the connection broke");
    });
    CompletableFuture<String> done = lane.submit(session -> {
      together.complete(true);
      return "done";
    });
    assertThat(Await.value(done)).isEqualTo("done");
    Await.until("one rests", () -> resting() == 1);
    breaks.complete(true);
    assertThat(Await.failure(broken)).hasRootCauseMessage("the connection broke");
    Await.until("both rest", () -> resting() == 2);
    String next = Await.value(lane.submit(session -> "done by the other"));
    assertThat(next).isEqualTo("done by the other");
    assertThat(source.asked).hasValue(2);
    given.complete(true);
    lane.close();
  }

  private static long resting() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().equals("holdfast-jdbc-resting"))
        .filter(each -> each.getState() == Thread.State.TIMED_WAITING)
        .count();
  }
}
