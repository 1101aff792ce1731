// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One timer for all that a client waits for: leases to renew, deadlines, retries; earliest first.
 *
 * <p>Clearing an entry leaves no garbage in the {@link DueTimes}: an uncontended acquire and release enters and leaves
 * in constant time. At most one wake-up is armed at the scheduler, and it is re-armed only for something sooner; a
 * wake-up that finds nothing due costs nothing.
 *
 * <p>While there are entries it wakes at least every {@link #HEARTBEAT_NANOS}, to compare the clocks: the scheduler's
 * clock does not see a suspended machine.
 */
final class Timer {
  static final long HEARTBEAT_NANOS = 1_000_000_000L;
  private static final long JUMP_NANOS = 5_000_000L;

  private final Ticker ticker;
  private final Scheduler scheduler;
  private final Runnable afterTick;
  private final LateReport late;

  private final ReentrantLock lock = new ReentrantLock();
  private final DueTimes times = new DueTimes();
  private long armedFor = Long.MAX_VALUE;
  private Scheduler.@Nullable Scheduled armed;
  private boolean closed;
  private long offsetNanos;
  private volatile @Nullable Thread ticking;

  /** Told when a wake-up came late. */
  @FunctionalInterface
  interface LateReport {
    void late(long nanos);
  }

  /**
   * Makes a timer.
   *
   * @param afterTick runs after the due entries of one wake-up were called, to send what they collected
   * @param late told when the process was late (a pause, starvation)
   */
  Timer(Ticker ticker, Scheduler scheduler, Runnable afterTick, LateReport late) {
    this.ticker = ticker;
    this.scheduler = scheduler;
    this.afterTick = afterTick;
    this.late = late;
    this.offsetNanos = offset();
  }

  /** Enters an entry, or moves it. */
  void set(Timed entry, long dueNanos) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      if (times.isEmpty() && armed == null) {
        // nobody has compared the clocks since the last wake-up
        offsetNanos = offset();
      }
      times.set(entry, dueNanos);
      arm(false);
    } finally {
      lock.unlock();
    }
  }

  /** Takes an entry out, if it is in. */
  void clear(Timed entry) {
    lock.lock();
    try {
      times.remove(entry);
    } finally {
      lock.unlock();
    }
  }

  /** Whether the calling thread is calling due entries now, so that {@code afterTick} is still to come. */
  boolean isTicking() {
    return Thread.currentThread().equals(ticking);
  }

  /** Cancels the wake-up and forgets all entries. */
  void close() {
    lock.lock();
    try {
      closed = true;
      times.clear();
      if (armed != null) {
        armed.cancel();
      }
    } finally {
      lock.unlock();
    }
  }

  private void tick() {
    List<Timed> due = List.of();
    List<Timed> jumped = List.of();
    long lateNanos = 0;
    lock.lock();
    try {
      if (armed != null) {
        // a re-arm may have raced this wake-up: one chain of wake-ups is enough
        armed.cancel();
      }
      armed = null;
      long now = ticker.nanos();
      lateNanos = armedFor == Long.MAX_VALUE ? 0 : now - armedFor;
      armedFor = Long.MAX_VALUE;
      long offset = offset();
      if (offset - offsetNanos > JUMP_NANOS) {
        jumped = times.all();
        offsetNanos = offset;
      } else {
        offsetNanos = Math.min(offsetNanos, offset);
      }
      due = times.takeDue(now);
    } finally {
      lock.unlock();
    }
    if (lateNanos > HEARTBEAT_NANOS / 2) {
      long told = lateNanos;
      Guard.run(() -> late.late(told));
    }
    ticking = Thread.currentThread();
    try {
      jumped.forEach(entry -> Guard.run(entry::clockJumped));
      due.forEach(entry -> Guard.run(entry::due));
    } finally {
      ticking = null;
    }
    Guard.run(afterTick);
    lock.lock();
    try {
      arm(true);
    } finally {
      lock.unlock();
    }
  }

  private long offset() {
    return ticker.wallMillis() * 1_000_000L - ticker.nanos();
  }

  /** Arms the wake-up for the first entry, unless one is armed that comes in time; under the lock. */
  private void arm(boolean afterTick) {
    if (times.isEmpty() || closed || (armed != null && armedFor - times.firstDue() <= 0)) {
      return;
    }
    long now = ticker.nanos();
    long delay = Math.max(0, Math.min(times.firstDue() - now, HEARTBEAT_NANOS));
    if (!afterTick && armed != null && now + delay - armedFor >= 0) {
      return;
    }
    if (armed != null) {
      armed.cancel();
    }
    // if it throws, the next entry arms it
    armed = null;
    armedFor = now + delay;
    armed = scheduler.schedule(this::tick, delay);
  }
}
