// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Ticker;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.contract.StoreContract;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A data source that gives no connection, and says nothing. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class LimitedSourceTest {
  private static final Duration BRIEF = Duration.ofSeconds(1);

  private final CompletableFuture<String> never = new CompletableFuture<>();
  private final CompletableFuture<String> released = new CompletableFuture<>();
  private final List<Integer> closed = new CopyOnWriteArrayList<>();

  private Connection connection(int number) {
    return StubSource.connection(() -> closed.add(number));
  }

  /** The only thread of the renewals goes on with the next connection, and the one that comes late is nobody's. */
  @Test
  void connectionThatDoesNotCome_keepsNoThread() {
    StubSource source = new StubSource(time -> {
      if (time == 1) {
        released.join();
      }
      return connection(time);
    });
    JdbcLane lane = JdbcLaneTest.lane(new LimitedSource(source, BRIEF, Ticker.system()));

    assertThat(Await.failure(lane.submit(session -> "done"))).isInstanceOf(StoreException.class);
    String done = Await.value(lane.submit(session -> "done"));

    assertThat(done).isEqualTo("done");
    assertThat(closed).isEmpty();
    released.complete("");
    Await.until("the late one is given back", () -> closed.equals(List.of(1)));
    lane.close();
  }

  /** As a source that is written in Kotlin or Scala may. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void sourceThatThrowsWhatItDoesNotDeclare_hasFailed(boolean isLimited) {
    StubSource source = new StubSource(time -> {
      if (time == 1) {
        throw JdbcLaneTest.<RuntimeException>undeclared(new IOException("no route"));
      }
      return connection(time);
    });
    JdbcLane lane =
        JdbcLaneTest.lane(isLimited ? new LimitedSource(source, BRIEF, Ticker.system()) : source);

    assertThat(Await.failure(lane.submit(session -> "done")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("no route");
    String done = Await.value(lane.submit(session -> "done"));

    assertThat(done).isEqualTo("done");
    assertThat(source.asked.get()).isEqualTo(2);
    lane.close();
  }

  /** In a pool that is used up it has waited for longer than the one that is asked for now. */
  @Test
  void connectionThatComesLate_goesToWhoWaits() throws SQLException {
    Connection late = connection(1);
    StubSource source = new StubSource(time -> {
      if (time == 1) {
        released.join();
        return late;
      }
      released.complete("");
      never.join();
      return connection(time);
    });
    LimitedSource limited = new LimitedSource(source, Duration.ofSeconds(6), Ticker.system());

    assertThatThrownBy(limited::connect)
        .isInstanceOf(SQLTransientConnectionException.class)
        .hasMessageContaining("within 6 s");

    assertThat(limited.connect()).isSameAs(late);
    never.complete("");
    Await.until("the second is given back", () -> closed.equals(List.of(2)));
  }

  /** The limit of these tests may pass before a connection is there. */
  private static void connect(LimitedSource limited) {
    Await.present("a connection", () -> {
      try {
        return Optional.of(limited.connect());
      } catch (SQLException e) {
        return Optional.empty();
      }
    });
  }

  /** Each that hangs costs a thread: there are a few, and one more from time to time, for a server that is back. */
  @Test
  void hangingSource_isAskedAgainFromTimeToTime() {
    ManualTicker ticker = new ManualTicker();
    int most = LimitedSource.MOST_LATE + 1;
    StubSource source = new StubSource(time -> {
      if (time > most + 1) {
        return connection(time);
      }
      never.join();
      throw new SQLException("the test is over");
    });
    LimitedSource limited = new LimitedSource(source, Duration.ofMillis(1), ticker);
    for (int i = 0; i < 3 * LimitedSource.MOST_LATE; i++) {
      assertThatThrownBy(limited::connect).isInstanceOf(SQLTransientConnectionException.class);
    }
    Await.until("a few were asked for", () -> source.asked.get() == most);

    ticker.advance(LimitedSource.ONE_MORE);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(limited::connect).isInstanceOf(SQLTransientConnectionException.class);
    }
    Await.until("one more was asked for", () -> source.asked.get() == most + 1);

    // it is back: those that hang do not count any more, whatever becomes of them
    ticker.advance(LimitedSource.ONE_MORE.multipliedBy(2));
    connect(limited);
    connect(limited);
    never.complete("");
  }

  /** A pool says why it has no connection after its own time-out: who waits in vain later on is told. */
  @Test
  void failureThatComesLate_isToldToTheNext() {
    SQLException said = new SQLException("wrong password", "28P01");
    StubSource source = new StubSource(time -> {
      if (time == 1) {
        released.join();
        throw said;
      }
      never.join();
      return connection(time);
    });
    LimitedSource limited = new LimitedSource(source, Duration.ofMillis(200), Ticker.system());

    assertThatThrownBy(limited::connect).hasNoCause();
    released.complete("");
    Await.until("the next one is told why", () -> {
      try {
        limited.connect().close();
        return false;
      } catch (SQLException e) {
        return said.equals(e.getCause());
      }
    });
    never.complete("");
  }

  /** Who waits is told, though a connection comes, which is given back. */
  @Test
  void close_isToldToWhoWaits() {
    StubSource source = new StubSource(time -> {
      try {
        never.get();
      } catch (InterruptedException | ExecutionException e) {
        // it comes all the same
      }
      return connection(time);
    });
    LimitedSource limited = patient(source, Duration.ofMinutes(1));
    CompletableFuture<Connection> waits = new CompletableFuture<>();
    Thread waiter = new Thread(() -> {
      try {
        waits.complete(limited.connect());
      } catch (SQLException e) {
        waits.completeExceptionally(e);
      }
    });
    waiter.start();
    Await.until("it is asked for", () -> source.asked.get() == 1);

    limited.close();

    assertThat(Await.failure(waits)).hasMessage("the store is closed");
    assertThat(closed).containsExactly(1);
  }

  private static LimitedSource patient(StubSource source, Duration limit) {
    return new LimitedSource(source, limit, Duration.ofMinutes(1), Ticker.system());
  }

  /** A pool would give what others need to somebody who has no use for it any more. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void close_endsWhatIsAskedFor(boolean interrupted) {
    AtomicInteger over = new AtomicInteger();
    StubSource source = new StubSource(time -> {
      try {
        never.get();
      } catch (InterruptedException | ExecutionException e) {
        over.incrementAndGet();
      }
      return connection(time);
    });
    LimitedSource limited = patient(source, Duration.ofMillis(1));
    assertThatThrownBy(limited::connect).isInstanceOf(SQLTransientConnectionException.class);
    assertThatThrownBy(limited::connect).isInstanceOf(SQLTransientConnectionException.class);
    Await.until("both are asked for", () -> source.asked.get() == 2);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }

    limited.close();

    assertThat(Thread.interrupted()).isEqualTo(interrupted);
    assertThat(over).hasValue(2);
    assertThat(closed).containsExactlyInAnyOrder(1, 2);
    assertThatThrownBy(limited::connect).hasMessage("the store is closed");
    assertThat(source.asked).hasValue(2);
  }

  /** What it says, it says at once. */
  @Test
  void failure_isToldAsItIs() {
    SQLException said = new SQLException("too many", "53300");
    LimitedSource failing = new LimitedSource(
        new StubSource(time -> {
          throw said;
        }),
        Duration.ofMinutes(1),
        Ticker.system());
    assertThatThrownBy(failing::connect).isSameAs(said);
    LimitedSource broken = new LimitedSource(
        new StubSource(time -> {
          throw new NoClassDefFoundError("of a driver");
        }),
        Duration.ofMinutes(1),
        Ticker.system());
    assertThatThrownBy(broken::connect).isInstanceOf(NoClassDefFoundError.class);
  }
}
