// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldState;
import io.holdfast.LockEvent;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What this process holds of one name: the current tenure, its release, its loss; {@link Relay} is its way from hand to
 * hand. The other half of the {@link Lane}'s state machine, under the same lock.
 */
final class Holding {
  /** This process's turn while others are taken to wait; null otherwise. */
  private @Nullable Turn turn;

  /** For how many more grants others are expected to come back, though there is no sign of them. */
  private int othersExpected;

  private final Lane lane;
  private @Nullable Tenure tenure;

  /** The newest grant that this process has had, over or not, and when it was told of it. */
  private long newestRevision = Long.MIN_VALUE;

  private long newestNanos;

  /** The last claim that this client had made by then. */
  private long newestClaim;

  Holding(Lane lane) {
    this.lane = lane;
  }

  /** Its way from hand to hand. Made when it is needed, since it has no state: there may be a hundred thousand of us. */
  Relay relay() {
    return new Relay(lane, this);
  }

  boolean isEmpty() {
    return tenure == null;
  }

  /** Whether a caller has a hold, by what was written last. */
  boolean isHeld() {
    Ownership own = tenure == null ? null : tenure.own;
    return own != null && own.isOurs();
  }

  @Nullable
  Tenure tenure() {
    return tenure;
  }

  /** Whether a moment is later than the one at which this process was told of its newest grant. */
  boolean isSinceTheNewest(long nanos) {
    return nanos - newestNanos > 0;
  }

  /**
   * Whether this process holds, or has held, what was granted after a claim's grant, which is therefore over: its answer was late.
   * A grant to a claim that was made since, or of a lock that is not held and was asked for since, is none of those, though its
   * revision be less: the store has forgotten the others.
   */
  boolean isNewerThan(ClaimId claim, Grant grant, boolean askedSince) {
    return newestRevision > grant.revision()
        && claim.number() <= newestClaim
        && (tenure != null || !askedSince);
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
        || held.leftNanos(lane.engine.ticker.now()) <= 0) {
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

  /**
   * A claim was granted and will be used.
   *
   * @param waitedForOthers whether the store answered "busy" to this claim because of another process
   */
  void begin(Tenure fresh, Grant grant, boolean waitedForOthers, Later later) {
    Tenure old = tenure;
    if (old != null) {
      // the store would not have granted this claim if it still knew the old one
      lose(old, LossReason.GONE, later);
    }
    tenure = fresh;
    newestRevision = grant.revision();
    newestNanos = lane.engine.ticker.nanos();
    newestClaim = lane.engine.registry.lastClaim();
    beginTurn(grant.othersWait(), waitedForOthers);
    countPassedOn();
    lane.claims.began(fresh.claimant, later);
  }

  /**
   * On stores without a queue only the store's report of waiters begins a turn; on the others "busy" and recent signs of
   * others count too.
   */
  private void beginTurn(boolean othersWait, boolean waitedForOthers) {
    if (!lane.engine.traits.queues()) {
      othersWait(othersWait);
      return;
    }
    if (waitedForOthers || (othersWait && mayBeBelieved())) {
      othersExpected = HandOver.GRANTS_OTHERS_EXPECTED;
    }
    turn = null;
    if (othersExpected > 0) {
      othersExpected--;
      turn = Turn.granted(lane.engine.ticker.nanos());
    }
  }

  /** The store said whether another process waits. */
  void othersWait(boolean wait) {
    if (!wait) {
      turn = null;
      return;
    }
    if (mayBeBelieved()) {
      othersExpected = HandOver.GRANTS_OTHERS_EXPECTED;
    }
    if (turn == null) {
      turn = Turn.noticed(lane.engine.ticker.nanos());
    }
  }

  /** Fair requests of this process stand in the store's queue too, and a store may count them as others. */
  private boolean mayBeBelieved() {
    return !lane.claims.hasFairWaiters();
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

  /** The lock went to another holder of this process. */
  void countPassedOn() {
    if (turn != null) {
      turn.passedOn();
    }
  }

  // release

  /** Does what is to be done after a release, on a thread that waits for the end of one claim, or for nothing. */
  private static void send(
      Later later, @Nullable Claimant awaited, CompletableFuture<Boolean> result) {
    Patience patience =
        Patience.begin((claimant, ends) -> ends && claimant == awaited && !result.isDone());
    try {
      later.run();
    } finally {
      patience.end();
    }
  }

  /**
   * Releases a hold.
   *
   * @param waits whether the calling thread waits for the answer
   * @return completes with whether it was still ours
   */
  CompletableFuture<Boolean> release(Ownership own, boolean now, boolean waits) {
    CompletableFuture<Boolean> result = Engine.NO;
    Claimant awaited = null;
    Later later = new Later();
    lane.lock.lock();
    try {
      Moment moment = lane.engine.ticker.now();
      Tenure held = own.tenure;
      if (own.isOurs() && own.leftNanos(moment) <= 0) {
        held.due(later);
      }
      if (own.isOurs()) {
        boolean healthy = own.state() == HoldState.HELD && !held.claimant.attempts.isGrantInDoubt();
        released(own, moment, false, later);
        Duration keepFor = now ? Duration.ZERO : own.options.holdAtLeast();
        if (keepFor.isZero() && relay().passOn(held, healthy, moment, later)) {
          result = Engine.YES;
        } else {
          result = held.claimant.ending().first();
          awaited = waits ? held.claimant : null;
          end(held, keepFor, moment.nanos(), later);
        }
      } else if (own.state() == HoldState.LOST && held.claimant.phase() == Claimant.Phase.ENDING) {
        held.claimant.ending().begin(Duration.ZERO, moment.nanos(), later);
      }
    } finally {
      lane.lock.unlock();
    }
    send(later, awaited, result);
    own.stopInterrupts();
    return result;
  }

  private void released(Ownership own, Moment now, boolean abandoned, Later later) {
    own.enter(HoldState.RELEASED);
    Duration held =
        Duration.ofNanos(Math.max(0, own.since.elapsedNanos(now.nanos(), now.wallMillis())));
    lane.engine.tell(
        later, () -> new LockEvent.Released(lane.key.name(), own.token, held, abandoned));
  }

  /** Gives a lock back to the store. */
  void end(Tenure held, Duration keepFor, long now, Later later) {
    Claimant claimant = held.claimant;
    held.own = null;
    held.free = false;
    if (tenure == held) {
      tenure = null;
      lane.restraint().releasing(claimant);
    }
    claimant.finish(keepFor, now, later);
  }

  // loss

  /** A hold ended without a release. */
  void lose(Tenure held, LossReason reason, Later later) {
    Claimant claimant = held.claimant;
    if (claimant.phase() != Claimant.Phase.HELD) {
      return;
    }
    Moment now = lane.engine.ticker.now();
    Ownership own = held.own;
    if (held.wasAbandoned() && own != null) {
      reportAbandoned(own, now, later);
    } else if (own != null && own.isOurs()) {
      LossReason told = held.told(reason, now);
      own.lose(lane.key.name(), lane.engine.store.describe(), told, now);
      lane.engine.tell(later, () -> new LockEvent.Lost(lane.key.name(), own.token, told));
      EngineHold hold = held.handle();
      later.add(() -> tellLoss(own, hold));
    }
    if (tenure == held) {
      tenure = null;
    }
    claimant.lost(held, reason, now, later);
    lane.claims.contend(later);
  }

  private void tellLoss(Ownership own, @Nullable EngineHold hold) {
    var loss = Objects.requireNonNull(own.loss());
    Log.log(
        Level.WARNING,
        "lock={0} token={1}: hold lost: {2}",
        lane.key,
        Long.toString(own.token),
        loss.reason());
    own.tellLoss(lane.engine.callbacks, loss);
    if (hold != null) {
      hold.completeLost();
    }
  }

  /** A hold was dropped unreleased. */
  void abandon(Tenure held, Later later) {
    Moment now = lane.engine.ticker.now();
    Ownership own = held.own;
    if (own != null) {
      reportAbandoned(own, now, later);
      if (!relay().passOn(held, false, now, later)) {
        end(held, Duration.ZERO, now.nanos(), later);
      }
    }
  }

  private void reportAbandoned(Ownership own, Moment now, Later later) {
    released(own, now, true, later);
    later.add(() -> Log.log(
        Level.WARNING,
        "lock={0} token={1}: the hold was garbage-collected without being released; released"
            + " now",
        lane.key,
        Long.toString(own.token)));
  }

  /**
   * The state of a hold may be out of date: its time is up and the timer has not come yet. Returns what is left of it,
   * which is more than was read before if it has been renewed just now.
   */
  long checkTime(Ownership own, Moment now) {
    Later later = new Later();
    long left = 0;
    lane.lock.lock();
    try {
      if (own.isOurs() && own.tenure.own == own) {
        own.tenure.due(now, later);
        left = own.isOurs() ? own.leftNanos(now) : 0;
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
    return left;
  }

  /** The client is closing: the hold is invalid before anything else happens. */
  void invalidate(Later later) {
    Ownership own = tenure == null ? null : tenure.own;
    if (own != null && own.isOurs()) {
      released(own, lane.engine.ticker.now(), false, later);
    }
  }
}
