// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.Moment;
import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clocks that stand still, and a timer of which nobody hears: nothing is sent because some time has passed, so that what is
 * counted does not depend on how fast the machine is. {@link #pass} is the only time that the timer sees; {@link #catchUp}
 * has the clocks show the machine's time again, since servers go by theirs.
 */
final class StillTime implements Ticker, Scheduler {
  private final ManualClock timer = new ManualClock();
  private final AtomicLong aheadNanos = new AtomicLong();
  private volatile Moment standing = Ticker.system().now();

  @Override
  public long nanos() {
    return standing.nanos() + aheadNanos.get();
  }

  @Override
  public long wallMillis() {
    return standing.wallMillis() + aheadNanos.get() / 1_000_000;
  }

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    return timer.schedule(task, delayNanos);
  }

  /** Sets the clocks to the machine's time, and what was added to that. Runs nothing. */
  void catchUp() {
    standing = Ticker.system().now();
  }

  /**
   * Sets the clocks forward, then runs what is due by then: all of it in one wake-up. What is asked in that wake-up has all its
   * time still to come.
   */
  void pass(Duration time) {
    aheadNanos.addAndGet(time.toNanos());
    timer.freeze(time);
  }
}
