// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldState;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.spi.Grant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The time in which a claim holds the lock in the store, through all the holds that it is passed on to. Guarded by the
 * lane's lock; only {@link #leftNanos} is asked without it.
 */
final class Tenure extends Term {
  final Claimant claimant;
  final long revision;

  /** The current hold; null while a renewal is awaited before the lock is passed on. */
  @Nullable
  Ownership own;

  /** Whether the lock is this process's and no hold's: the next request that comes may take it. */
  boolean free;

  private @Nullable Handle handle;
  private int handOvers;
  private long nextRenewNanos;
  private long renewSentNanos;

  /** The number of the renewal that is under way, or was last; its answer carries it back. */
  private int renewal;

  /** The renewals up to this one were sent before the grant came into doubt. */
  private int doubtful;

  private boolean renewalUnderWay;

  Tenure(Claimant claimant, Grant grant, Moment now) {
    this.claimant = claimant;
    this.revision = grant.revision();
    extend(grant);
    this.renewSentNanos = anchorNanos();
    this.nextRenewNanos = renewalDue(now);
  }

  @Override
  long granularityNanos() {
    return claimant.lane.engine.granularityNanos;
  }

  /** After an answer: the lease is as old as the clock says that says more. */
  private long renewalDue(Moment now) {
    return onGrid(now.nanos() - sinceAnchor(now) + Validity.renewAfter(leaseNanos()));
  }

  private long onGrid(long dueNanos) {
    return Validity.renewalGrid(dueNanos, leaseNanos(), claimant.lane.engine.renewalPhaseNanos);
  }

  long leftNanos(Moment now) {
    return leftNanos(now.nanos(), now.wallMillis());
  }

  int handOvers() {
    return handOvers;
  }

  /** Makes the hold for a request, the first or the next one of this grant. */
  EngineHold give(Request request, Moment since, boolean handedOver) {
    if (handedOver) {
      handOvers++;
    }
    Ownership fresh = new Ownership(this, Tokens.token(revision, handOvers), request, since);
    EngineHold hold = new EngineHold(claimant.lane, fresh);
    own = fresh;
    handle = new Handle(hold, this, claimant.lane.engine.dropped);
    return hold;
  }

  /** Looks at the clocks: loss, risk, renewal. Under the lane's lock, on the timer. */
  void due(Later later) {
    due(claimant.lane.engine.ticker.now(), later);
  }

  /** The machine slept, or its wall clock was set: the lease is older than the time of its renewal took for granted. */
  void clockJumped(Later later) {
    Moment now = claimant.lane.engine.ticker.now();
    long due = renewalDue(now);
    if (due - nextRenewNanos < 0) {
      nextRenewNanos = due;
    }
    due(now, later);
  }

  void due(Moment now, Later later) {
    Ownership holder = own;
    if ((holder == null ? leftNanos(now) : holder.leftNanos(now)) <= 0) {
      claimant.lane.holding.lose(this, whyLost(now), later);
      return;
    }
    if (free) {
      claimant.lane.holding.relay().settleFree(this, later);
      return;
    }
    if (holder != null && isAbandoned()) {
      claimant.lane.holding.abandon(this, later);
      return;
    }
    if (holder != null
        && holder.state() == HoldState.HELD
        && renews()
        && sinceAnchor(now) >= Validity.atRiskAfter(leaseNanos())) {
      atRisk(now, later);
    }
    boolean sends = renews() && now.nanos() - nextRenewNanos >= 0 && renew(now.nanos(), later);
    if (!sends || !claimant.lane.engine.timer.isTicking()) {
      schedule(now);
    }
    // otherwise it is sent at the end of the tick, and may be answered at once: either way schedules
  }

  /**
   * Asks the store to extend the lease, unless that is under way; the answer comes to {@link #renewed}.
   *
   * @return whether it will be sent
   */
  boolean renew(long nowNanos, Later later) {
    long timeout = claimant.lane.engine.requestNanos(claimant.claim);
    if (renewalUnderWay && nowNanos - renewSentNanos < timeout) {
      nextRenewNanos = renewSentNanos + timeout;
      return false;
    }
    renewalUnderWay = true;
    renewal++;
    renewSentNanos = nowNanos;
    nextRenewNanos = onGrid(nowNanos + timeout);
    claimant.lane.engine.keeper.add(claimant, this, renewal);
    later.add(claimant.lane.engine.keeper.flush);
    return true;
  }

  /** A renewal was answered, one way or another; one that was given up before does not count. */
  void renewalAnswered(int number) {
    if (number == renewal) {
      renewalUnderWay = false;
    }
  }

  /** The renewal failed or was not understood: the next try is nearer than a whole interval. */
  void renewalFailed() {
    Moment now = claimant.lane.engine.ticker.now();
    long pause = claimant.lane.engine.jitter(Validity.retryAfter(leaseNanos()));
    nextRenewNanos = now.nanos() + pause;
    schedule(now);
  }

  /** The store confirmed: takes the new lease if it says more than what is known. */
  void renewed(Grant grant, Later later) {
    Moment now = claimant.lane.engine.ticker.now();
    if (leftOf(grant, now.nanos(), now.wallMillis()) > leftNanos(now)) {
      extend(grant);
      nextRenewNanos = renewalDue(now);
    } else {
      nextRenewNanos = now.nanos() + Validity.retryAfter(leaseNanos());
    }
    Ownership holder = own;
    if (holder != null && leftNanos(now) > 0) {
      if (holder.state() == HoldState.AT_RISK
          && sinceAnchor(now) < Validity.atRiskAfter(leaseNanos())) {
        holder.enter(HoldState.HELD);
      }
      tellRenewed(holder, now, later);
    }
    schedule(now);
  }

  private void tellRenewed(Ownership holder, Moment now, Later later) {
    if (claimant.lane.engine.hasListeners()) {
      Duration margin = Duration.ofNanos(Math.max(0, holder.leftNanos(now)));
      claimant.lane.engine.tell(
          later, () -> new LockEvent.Renewed(claimant.name(), holder.token, margin));
    }
  }

  /** The connection is disturbed: a renewal that is under way is given up. */
  void disturbed(Later later) {
    renewalUnderWay = false;
    Ownership holder = own;
    if (holder != null && holder.state() == HoldState.HELD && renews()) {
      atRisk(claimant.lane.engine.ticker.now(), later);
    }
  }

  /** The grant is in doubt: it is renewed, once a renewal that is under way is answered, which may be older than the doubt. */
  void doubted(Later later) {
    doubtful = renewal;
    // nor is it passed on before that
    free = false;
    renewNow(later);
  }

  /** Whether a renewal was sent after the grant came into doubt. */
  boolean settles(int number) {
    return number > doubtful;
  }

  /** The connection works again: a lease that is renewed is renewed now. */
  void renewNow(Later later) {
    if (renews()) {
      renew(claimant.lane.engine.ticker.nanos(), later);
    }
    schedule(claimant.lane.engine.ticker.now());
  }

  /** Sets the timer for what comes next. */
  void schedule(Moment now) {
    Ownership holder = own;
    long left = holder == null ? leftNanos(now) : holder.leftNanos(now);
    long wait = left;
    if (renews()) {
      wait = Math.min(wait, nextRenewNanos - now.nanos());
      if (holder != null && holder.state() == HoldState.HELD) {
        wait = Math.min(wait, Validity.atRiskAfter(leaseNanos()) - sinceAnchor(now));
      }
    }
    claimant.wakeAt(now.nanos() + Math.max(0, wait));
  }

  /** Whether the store was last heard of so long ago that others may have come to wait unnoticed. */
  boolean isStale(Moment now) {
    return sinceAnchor(now) >= HandOver.NANOS_WHEN_OTHERS_WAIT
        && now.nanos() - renewSentNanos >= HandOver.NANOS_WHEN_OTHERS_WAIT;
  }

  LockOptions options() {
    return claimant.options;
  }

  /** Whether the lease is to be extended: also once for a fixed one, if the store pushed a short grant. */
  private boolean renews() {
    boolean wanted = options().renew() || leaseNanos() < claimant.claim.lease().toNanos();
    return wanted && !ownerDied();
  }

  private boolean ownerDied() {
    Ownership holder = own;
    return holder != null
        && holder.kind == Request.Kind.THREAD_OWNED
        && holder.thread != null
        && !holder.thread.isAlive();
  }

  private boolean isAbandoned() {
    Handle reference = handle;
    return reference != null && reference.get() == null;
  }

  /** Whether the handle was dropped unreleased. */
  boolean wasAbandoned() {
    return own != null && isAbandoned();
  }

  /** Lets a handle look garbage-collected, if it is the current one. */
  void dropHandle(EngineHold hold) {
    Handle reference = handle;
    if (reference != null && reference.refersTo(hold)) {
      reference.enqueue();
    }
  }

  /** Returns the handle of the current hold; null if there is none, or it was dropped. */
  @Nullable
  EngineHold handle() {
    return handle == null ? null : handle.get();
  }

  /** What is told of a loss: a hold that was over by the clocks is not said to be lost by what the store said then. */
  LossReason told(LossReason reason, Moment now) {
    boolean ofTheStore = reason == LossReason.GONE || reason == LossReason.SESSION_ENDED;
    Ownership holder = own;
    return ofTheStore && holder != null && holder.leftNanos(now) <= 0 ? whichLimit(now) : reason;
  }

  private LossReason whyLost(Moment now) {
    return ownerDied() ? LossReason.THREAD_DIED : whichLimit(now);
  }

  /** The limit that came first. */
  private LossReason whichLimit(Moment now) {
    Ownership holder = own;
    return holder != null && holder.leftNanos(now) < leftNanos(now)
        ? LossReason.HELD_TOO_LONG
        : LossReason.LEASE_ENDED;
  }

  private void atRisk(Moment now, Later later) {
    Ownership holder = java.util.Objects.requireNonNull(own);
    holder.enter(HoldState.AT_RISK);
    Duration left = Duration.ofNanos(Math.max(0, holder.leftNanos(now)));
    claimant.lane.engine.tell(
        later, () -> new LockEvent.AtRisk(claimant.name(), holder.token, left));
  }

  /** The time since the lease began, or since just before. */
  long sinceAnchor(Moment now) {
    return validNanos() - leftNanos(now);
  }
}
