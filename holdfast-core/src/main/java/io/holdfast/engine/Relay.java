// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Moment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the lock that this process holds goes from hand to hand without the store. {@link HandOver} decides whether; this
 * does it. Under the lane's lock.
 *
 * <p>A released lock is <em>free</em> while whoever comes first may take it: the first in the queue is called, and any
 * request that comes before it has run may be faster. Once the first has waited long enough, or has no thread that could
 * come, it is handed the lock.
 */
final class Relay {
  private final Lane lane;
  private final Engine engine;
  private final Holding holding;

  Relay(Lane lane, Holding holding) {
    this.lane = lane;
    this.engine = lane.engine;
    this.holding = holding;
  }

  /** Passes a released lock on without the store, or will once its lease is renewed; false if it goes back. */
  boolean passOn(Tenure held, boolean healthy, Moment now, Later later) {
    Request next = lane.first();
    if (next == null || !takesOver(next, held) || lane.claims.hasFairWaiters()) {
      return false;
    }
    HandOver.Verdict verdict = HandOver.decide(
        held.options().renew(),
        held.handOvers(),
        holding.isOthersTurn(now.nanos()),
        held.leaseNanos(),
        held.leftNanos(now));
    if (!healthy && verdict == HandOver.Verdict.PASS_ON) {
      verdict = HandOver.Verdict.RENEW_FIRST;
    }
    switch (verdict) {
      case PASS_ON -> offer(held, next, now, later);
      case RENEW_FIRST -> {
        held.own = null;
        held.renew(now.nanos(), later);
        held.schedule(now);
      }
      case GIVE_BACK -> {
        return false;
      }
    }
    return true;
  }

  private static boolean takesOver(Request next, Tenure held) {
    return Claims.suits(next.options, held.options())
        && !held.options().fair()
        && next.options.holdAtLeast().isZero();
  }

  private void offer(Tenure held, Request first, Moment now, Later later) {
    if (first.thread == null || isDue(first, now)) {
      handTo(first, held, now, later);
    } else {
      held.own = null;
      held.free = true;
      call(first, later);
    }
  }

  private static boolean isDue(Request first, Moment now) {
    return now.nanos() - first.startNanos >= HandOver.PATIENCE_NANOS;
  }

  /** Wakes the thread of the first in the queue, to take the lock, or to ask the store for it. */
  static void call(Request first, Later later) {
    if (!first.called) {
      first.called = true;
      later.add(first::announce);
    }
  }

  private void handTo(Request next, Tenure held, Moment now, Later later) {
    held.free = false;
    holding.countPassedOn();
    EngineHold hold = held.give(next, now, true);
    if (held.isStale(now)) {
      // asks whether others have come to wait, so that the bound on local runs means something
      held.renew(now.nanos(), later);
    }
    held.schedule(now);
    lane.deliver(next, hold, true, later);
  }

  /** Gives a request the lock if it is free to take; says whether it did. */
  boolean take(Request request, Later later) {
    Tenure held = free();
    if (held == null || !takesOver(request, held)) {
      return false;
    }
    Moment now = engine.ticker.now();
    if (held.leftNanos(now) <= 0) {
      return false;
    }
    handTo(request, held, now, later);
    return true;
  }

  /** As {@link #take}, but not once the first in the queue is due: then that one gets the lock. */
  boolean takeUnlessFirstIsDue(Request request, Later later) {
    Tenure held = free();
    if (held == null) {
      return false;
    }
    Request first = lane.first();
    if (first != null && isDue(first, engine.ticker.now())) {
      settleFree(held, later);
      return false;
    }
    return take(request, later);
  }

  private @Nullable Tenure free() {
    Tenure held = holding.tenure();
    return held != null && held.free ? held : null;
  }

  /** The lock is free to take and whoever was called has not come: the first gets it, or the store. */
  void settleFree(Tenure held, Later later) {
    Request first = lane.first();
    if (first == null || !take(first, later)) {
      holding.end(held, Duration.ZERO, engine.ticker.nanos(), later);
    }
  }

  /** A request left the queue; if it was the one that was called, the next one is. */
  void callNext(Later later) {
    Tenure held = free();
    Request first = lane.first();
    if (held == null || first == null) {
      return;
    }
    if (takesOver(first, held)) {
      offer(held, first, engine.ticker.now(), later);
    } else {
      holding.end(held, Duration.ZERO, engine.ticker.nanos(), later);
    }
  }

  /** Nobody waits any more for a lock that is free, or that is renewed before it is passed on. */
  void endIfUnclaimed(Later later) {
    Tenure held = holding.tenure();
    if (held != null && held.own == null) {
      holding.end(held, Duration.ZERO, engine.ticker.nanos(), later);
    }
  }

  /** A renewal came; if no hold was current, it was for this: the lock is passed on now. */
  void passOnAfterRenewal(Tenure held, Later later) {
    if (held.own != null || held.free || holding.tenure() != held) {
      return;
    }
    Moment now = engine.ticker.now();
    Request next = lane.first();
    if (next != null
        && held.leftNanos(now) > 0
        && takesOver(next, held)
        && !holding.isOthersTurn(now.nanos())) {
      handTo(next, held, now, later);
    } else {
      holding.end(held, Duration.ZERO, now.nanos(), later);
    }
  }
}
