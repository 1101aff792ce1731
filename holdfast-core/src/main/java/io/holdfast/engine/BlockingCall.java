// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One blocking call, in the steps that its thread takes each time it runs; between them it parks. {@link EngineLock}
 * parks a real thread, the simulator none.
 */
final class BlockingCall {
  /** What it may take until a store that blocks a thread notices that the request's time is up. */
  private static final long LATE_NANOS = 1_000_000_000L;

  private final EngineLock lock;
  private final Request.Kind kind;
  private final boolean once;
  private final boolean timed;
  private final long deadlineNanos;
  private final Thread thread;
  private final @Nullable Runnable wake;

  private Request request;
  private boolean parked;

  /**
   * Makes a call that has not begun.
   *
   * @param waitAtMost null for no limit
   * @param thread who calls
   * @param wake runs instead of unparking the thread; null to unpark it
   */
  BlockingCall(
      EngineLock lock,
      Request.Kind kind,
      boolean onlyTry,
      @Nullable Duration waitAtMost,
      Thread thread,
      @Nullable Runnable wake) {
    this.lock = lock;
    this.kind = kind;
    this.thread = thread;
    this.wake = wake;
    long wait = waitAtMost == null ? 0 : Checks.waitNanos(waitAtMost);
    this.once = onlyTry || (waitAtMost != null && wait == 0);
    this.timed = waitAtMost != null && !once;
    long now = lock.engine.ticker.nanos();
    this.deadlineNanos = now + wait;
    this.request = newRequest(now);
  }

  /** Submits the first request. */
  BlockingCall begin() {
    lock.lane.submit(request);
    return this;
  }

  private Request newRequest(long now) {
    long wait = Math.max(0, deadlineNanos - now);
    return wake == null
        ? new Request(lock.options, kind, once, timed, now, wait)
        : new Woken(lock, kind, once, timed, now, wait, thread, wake);
  }

  /** A request whose thread is no thread. */
  private static final class Woken extends Request {
    private final Runnable wake;

    Woken(
        EngineLock lock,
        Kind kind,
        boolean once,
        boolean timed,
        long now,
        long wait,
        Thread thread,
        Runnable wake) {
      super(lock.options, kind, once, timed, now, wait, thread);
      this.wake = wake;
    }

    @Override
    void announce() {
      wake.run();
    }
  }

  /** Whether the call is open, and its thread ready to wait for one more attempt. */
  boolean waitsFor(Claimant claimant, boolean ends) {
    return !ends
        && claimant.lane == lock.lane
        && request.outcome() == null
        && (!timed
            || deadlineNanos - lock.engine.ticker.nanos()
                >= lock.engine.requestTimeoutNanos() + LATE_NANOS);
  }

  /** Much time may have passed since the call was settled, as after a park. */
  void mayHaveBlocked() {
    parked = true;
  }

  /** Returns how the call ends; null if there is nothing to return yet, so that the thread parks. */
  @Nullable
  Outcome outcome() {
    Outcome outcome = request.outcome();
    if (outcome == null) {
      parked = true;
      return null;
    }
    if (!(outcome instanceof EngineHold hold)) {
      return outcome;
    }
    if (!parked || hold.isValid()) {
      // settled without parking: whether it is valid was looked at just now
      hold.taken();
      return outcome;
    }
    // it took so long to get here that the hold has ended: the caller never had it
    giveBack(hold);
    request = newRequest(lock.engine.ticker.nanos());
    parked = false;
    lock.lane.submit(request);
    return outcome();
  }

  private void giveBack(EngineHold hold) {
    boolean stillOurs = hold.releaseQuietly(true);
    Log.log(Level.DEBUG, "lock={0}: hold ended before it was taken, ours={1}", lock.key, stillOurs);
  }

  /** Whether the lock was offered to this call: any other park on the way here may have used up the wake-up. */
  boolean wasCalled() {
    return request.called;
  }

  /** The thread runs again: if the lock is free to take, it takes it. */
  void awake() {
    lock.lane.awake(request);
  }

  /** The thread was interrupted: takes the call back, unless it was settled before; says whether it could. */
  boolean withdraw() {
    return lock.lane.withdraw(request, new IllegalStateException("interrupted"));
  }
}
