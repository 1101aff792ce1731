// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldState;
import io.holdfast.LockEvent;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.spi.Grant;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What this process holds of one name: the current tenure, its release, its way from thread to thread, its loss. The
 * other half of the {@link Lane}'s state machine, under the same lock.
 */
final class Holding {
  private static final System.Logger LOG = System.getLogger("io.holdfast");

  /** This process's turn while others are known to wait; null while nobody is. */
  private @Nullable Turn turn;

  private final Lane lane;
  private final Engine engine;
  private @Nullable Tenure tenure;

  Holding(Lane lane) {
    this.lane = lane;
    this.engine = lane.engine;
  }

  boolean isEmpty() {
    return tenure == null;
  }

  /** Whether what this process holds was granted after a grant with this revision, which is therefore over. */
  boolean isNewerThan(long revision) {
    return tenure != null && tenure.revision > revision;
  }

  /** Returns the claim that holds the lock, with a current hold or without. */
  @Nullable
  Claimant claimant() {
    return tenure == null ? null : tenure.claimant;
  }

  /** Whether the hold of this process is being renewed before it is passed on: nobody has it just now. */
  boolean isBeingRenewed() {
    return tenure != null && tenure.own == null && !tenure.free;
  }

  /** Returns the claim that certainly holds the lock for somebody now, or for somebody who was called to take it. */
  @Nullable
  Claimant reservedFor() {
    Tenure held = tenure;
    if (held == null
        || (held.own == null && !held.free)
        || held.leftNanos(engine.ticker.now()) <= 0) {
      return null;
    }
    return held.claimant;
  }

  /** Whether the thread of a request holds the lock itself, so that a wait without limit would never end. */
  boolean waitsForItself(Request request) {
    Ownership holder = tenure == null ? null : tenure.own;
    return holder != null
        && holder.thread != null
        && holder.thread.equals(request.thread)
        && !holder.detached
        && holder.options.renew()
        && holder.isOurs();
  }

  /** A claim was granted and will be used. */
  void begin(Tenure fresh, Grant grant, Later later) {
    Tenure old = tenure;
    if (old != null) {
      // the store would not have granted this claim if it still knew the old one
      lose(old, LossReason.GONE, later);
    }
    tenure = fresh;
    othersWait(grant.othersWait());
    countPassedOn();
    lane.began(fresh.claimant, later);
  }

  /** The store said whether another process waits. */
  void othersWait(boolean wait) {
    if (!wait) {
      turn = null;
    } else if (turn == null) {
      turn = new Turn(engine.ticker.nanos());
    }
  }

  /** The others have had their chance. */
  void yielded() {
    turn = null;
  }

  boolean othersWait() {
    return turn != null;
  }

  /** Whether others wait, and this process has had its turn. */
  boolean isOthersTurn(long nowNanos) {
    return turn != null && turn.isOver(nowNanos);
  }

  private void countPassedOn() {
    if (turn != null) {
      turn.passedOn();
    }
  }

  // release

  /**
   * Releases a hold.
   *
   * @return completes with whether it was still ours
   */
  CompletableFuture<Boolean> release(Ownership own, boolean now) {
    CompletableFuture<Boolean> result = Engine.NO;
    Later later = new Later();
    lane.lock.lock();
    try {
      Moment moment = engine.ticker.now();
      Tenure held = own.tenure;
      if (own.isOurs() && own.leftNanos(moment) <= 0) {
        held.due(later);
      }
      if (own.isOurs()) {
        boolean healthy = own.state() == HoldState.HELD;
        released(own, moment, false, later);
        Duration keepFor = now ? Duration.ZERO : own.options.holdAtLeast();
        if (keepFor.isZero() && passedOn(held, healthy, moment, later)) {
          result = Engine.YES;
        } else {
          result = held.claimant.ending().first();
          end(held, keepFor, moment.nanos(), later);
        }
      } else if (own.state() == HoldState.LOST && held.claimant.phase() == Claimant.Phase.ENDING) {
        held.claimant.ending().begin(Duration.ZERO, moment.nanos(), later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
    own.stopInterrupts();
    return result;
  }

  private void released(Ownership own, Moment now, boolean abandoned, Later later) {
    own.enter(HoldState.RELEASED);
    Duration held =
        Duration.ofNanos(Math.max(0, own.since.elapsedNanos(now.nanos(), now.wallMillis())));
    engine.tell(later, () -> new LockEvent.Released(lane.key.name(), own.token, held, abandoned));
  }

  /** Passes a released lock on without the store, or will once its lease is renewed; false if it goes back. */
  private boolean passedOn(Tenure held, boolean healthy, Moment now, Later later) {
    Request next = lane.first();
    if (next == null || !takesOver(next, held) || lane.hasFairWaiters()) {
      return false;
    }
    HandOver.Verdict verdict = HandOver.decide(
        held.options().renew(),
        held.handOvers(),
        isOthersTurn(now.nanos()),
        held.span.leaseNanos(),
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
    return Lane.suits(next.options, held.options())
        && !held.options().fair()
        && next.options.holdAtLeast().isZero();
  }

  private void end(Tenure held, Duration keepFor, long now, Later later) {
    Claimant claimant = held.claimant;
    held.own = null;
    held.free = false;
    if (tenure == held) {
      tenure = null;
      lane.releasing(claimant);
    }
    claimant.finish(keepFor, now, later);
  }

  /**
   * Lets whoever comes first take the lock, and calls the first in the queue to try; or hands it over, if the first has
   * waited long enough or has no thread that could come.
   */
  private void offer(Tenure held, Request first, Moment now, Later later) {
    if (first.thread == null || isDue(first, now)) {
      passOn(held, first, now, later);
    } else {
      held.own = null;
      held.free = true;
      call(first, later);
    }
  }

  private static boolean isDue(Request first, Moment now) {
    return now.nanos() - first.startNanos >= HandOver.PATIENCE_NANOS;
  }

  private static void call(Request first, Later later) {
    if (!first.called) {
      first.called = true;
      later.add(first::announce);
    }
  }

  /** Gives a request the lock if it is free to take; says whether it did. */
  boolean take(Request request, Later later) {
    Tenure held = tenure;
    if (held == null || !held.free || !takesOver(request, held)) {
      return false;
    }
    Moment now = engine.ticker.now();
    if (held.leftNanos(now) <= 0) {
      return false;
    }
    passOn(held, request, now, later);
    return true;
  }

  /** As {@link #take}, but not once the first in the queue is due: then that one gets the lock. */
  boolean takeUnlessFirstIsDue(Request request, Later later) {
    Tenure held = tenure;
    if (held == null || !held.free) {
      return false;
    }
    Request first = lane.first();
    if (first != null && isDue(first, engine.ticker.now())) {
      settleFree(held, later);
      return false;
    }
    return take(request, later);
  }

  /** The lock is free to take and whoever was called has not come: the first gets it, or the store. */
  void settleFree(Tenure held, Later later) {
    Request first = lane.first();
    if (first == null || !take(first, later)) {
      end(held, Duration.ZERO, engine.ticker.nanos(), later);
    }
  }

  /** A request left the queue; if it was the one that was called, the next one is. */
  void callNext(Later later) {
    Tenure held = tenure;
    Request first = lane.first();
    if (held == null || !held.free || first == null) {
      return;
    }
    if (takesOver(first, held)) {
      offer(held, first, engine.ticker.now(), later);
    } else {
      end(held, Duration.ZERO, engine.ticker.nanos(), later);
    }
  }

  private void passOn(Tenure held, Request next, Moment now, Later later) {
    held.free = false;
    countPassedOn();
    EngineHold hold = held.give(next, now, true);
    if (held.isStale(now)) {
      // asks whether others have come to wait, so that the bound on local runs means something
      held.renew(now.nanos(), later);
    }
    held.schedule(now);
    lane.deliver(next, hold, true, later);
  }

  /** A renewal is awaited before the lock is passed on, and nobody waits for it any more. */
  void endIfUnclaimed(Later later) {
    Tenure held = tenure;
    if (held != null && held.own == null) {
      end(held, Duration.ZERO, engine.ticker.nanos(), later);
    }
  }

  /** A renewal came while no hold was current: the lock is passed on now. */
  void passOnAfterRenewal(Tenure held, Later later) {
    if (held.own != null || held.free || tenure != held) {
      return;
    }
    Moment now = engine.ticker.now();
    Request next = lane.first();
    if (next != null
        && held.leftNanos(now) > 0
        && takesOver(next, held)
        && !isOthersTurn(now.nanos())) {
      passOn(held, next, now, later);
    } else {
      end(held, Duration.ZERO, now.nanos(), later);
    }
  }

  // loss

  /** A hold ended without a release. */
  void lose(Tenure held, LossReason reason, Later later) {
    Claimant claimant = held.claimant;
    if (claimant.phase() != Claimant.Phase.HELD) {
      return;
    }
    Moment now = engine.ticker.now();
    Ownership own = held.own;
    if (held.wasAbandoned() && own != null) {
      reportAbandoned(own, now, later);
    } else if (own != null && own.isOurs()) {
      own.lose(lane.key.name(), engine.store.describe(), reason, now);
      engine.tell(later, () -> new LockEvent.Lost(lane.key.name(), own.token, reason));
      EngineHold hold = held.handle();
      later.add(() -> tellLoss(own, hold));
    }
    if (tenure == held) {
      tenure = null;
    }
    claimant.lost(held, reason, now, later);
    lane.contend(later);
  }

  private void tellLoss(Ownership own, @Nullable EngineHold hold) {
    var loss = Objects.requireNonNull(own.loss());
    LOG.log(
        Level.WARNING,
        "lock={0} token={1}: hold lost: {2}",
        lane.key,
        Long.toString(own.token),
        loss.reason());
    own.tellLoss(engine.callbacks, loss);
    if (hold != null) {
      hold.completeLost();
    }
  }

  /** A hold was dropped unreleased. */
  void abandon(Tenure held, Later later) {
    Moment now = engine.ticker.now();
    Ownership own = held.own;
    if (own != null) {
      reportAbandoned(own, now, later);
      if (!passedOn(held, false, now, later)) {
        end(held, Duration.ZERO, now.nanos(), later);
      }
    }
  }

  private void reportAbandoned(Ownership own, Moment now, Later later) {
    released(own, now, true, later);
    later.add(() -> LOG.log(
        Level.WARNING,
        "lock={0} token={1}: the hold was garbage-collected without being released; released"
            + " now",
        lane.key,
        Long.toString(own.token)));
  }

  /** The state of a hold may be out of date: its time is up and the timer has not come yet. */
  void checkTime(Ownership own, Moment now) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (own.isOurs() && own.tenure.own == own) {
        own.tenure.due(now, later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /** The client is closing: the hold is invalid before anything else happens. */
  void invalidate(Later later) {
    Ownership own = tenure == null ? null : tenure.own;
    if (own != null && own.isOurs()) {
      released(own, engine.ticker.now(), false, later);
    }
  }
}
