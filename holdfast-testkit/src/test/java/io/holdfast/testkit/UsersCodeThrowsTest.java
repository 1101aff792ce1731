// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.OnLost;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A listener, or a log, that throws: leases are renewed, losses are told and events are delivered all the same. */
class UsersCodeThrowsTest {
  private static final LockOptions FIXED =
      LockOptions.builder().leaseFor(Duration.ofSeconds(10)).renew(false).build();

  private final ManualClock clock = new ManualClock();
  private final List<LockEvent> events = new ArrayList<>();
  private final Logger logger = Logger.getLogger("io.holdfast");
  private final Throws log = new Throws();
  private final Holdfast holdfast = Holdfast.builder()
      .store(new MemoryStore())
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(Runnable::run)
      .listener(this::listen)
      .build();
  private boolean listenerThrows;

  /** A log that cannot be written, on the thread of the test. */
  private static final class Throws extends Handler {
    final Thread ours = Thread.currentThread();
    final AtomicInteger times = new AtomicInteger();

    @Override
    public void publish(LogRecord line) {
      if (Thread.currentThread().equals(ours)) {
        times.incrementAndGet();
        throw new IllegalStateException("the disk is full");
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private void listen(LockEvent event) {
    events.add(event);
    if (listenerThrows) {
      throw UsersCodeThrowsTest.<RuntimeException>undeclared(new IOException("for the test"));
    }
  }

  /** Throws a checked exception without declaring it, as Kotlin and Scala do. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E undeclared(Throwable what) throws E {
    throw (E) what;
  }

  @AfterEach
  void close() {
    logger.removeHandler(log);
    holdfast.close();
  }

  @Test
  @Warns("a callback failed")
  void listenerThatThrowsACheckedException_isCountedAndHearsTheNext() throws Exception {
    listenerThrows = true;
    holdfast.lock("x").acquire().close();
    holdfast.lock("x").acquire().close();
    assertThat(events).hasSize(6);
    assertThat(holdfast.admin().callbackFailures()).isEqualTo(6);
  }

  @Test
  @Warns("a callback failed")
  void listenerAndLogThatThrow_areCountedAndHearTheNext() throws Exception {
    listenerThrows = true;
    logger.addHandler(log);
    holdfast.lock("x").acquire().close();
    holdfast.lock("x").acquire().close();
    assertThat(events).hasSize(6);
    assertThat(holdfast.admin().callbackFailures()).isEqualTo(6);
    assertThat(log.times.get()).isEqualTo(6);
  }

  /** The timer came late, and says so before it renews. */
  @Test
  @MayWarn("the timer ran")
  void lateTimerAndALogThatThrows_theLeaseIsRenewed() throws Exception {
    Hold hold = holdfast.lock("x").acquire();
    logger.addHandler(log);
    clock.freeze(Duration.ofSeconds(12));
    assertThat(log.times.get()).isPositive();
    clock.advance(LockOptions.DEFAULT_LEASE.multipliedBy(2));
    assertThat(hold.state()).isEqualTo(HoldState.HELD);
  }

  @Test
  @Warns("lock=x .*hold lost")
  @MayWarn("the timer ran")
  void lossAndALogThatThrows_theLossIsTold() throws Exception {
    AtomicInteger told = new AtomicInteger();
    LockOptions options =
        FIXED.toBuilder().onLost(OnLost.call(loss -> told.incrementAndGet())).build();
    Hold hold = holdfast.lock("x", options).acquire();
    logger.addHandler(log);
    clock.advance(Duration.ofSeconds(11));
    assertThat(log.times.get()).isPositive();
    assertThat(told.get()).isEqualTo(1);
    assertThat(hold.lost().isDone()).isTrue();
    assertThat(events).last().isInstanceOf(LockEvent.Lost.class);
  }
}
