// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Mode;

/**
 * How the requests of a lane end that are not granted: their time is up, the store answers "busy" at last, or it fails.
 * Guarded by the lane's lock; all methods are called under it.
 *
 * <p>"Busy" is said only on somebody's word: the store's, or of a hold of this process. A request whose time is up
 * before there was any is <em>overdue</em>: the first answer decides.
 */
final class Expiry {
  private final Lane lane;
  private final Engine engine;

  Expiry(Lane lane) {
    this.lane = lane;
    this.engine = lane.engine;
  }

  /** A request that was not settled has waited long enough. */
  void expire(Request request, Later later) {
    Claimant own = request.claimant;
    if (own == null && (lane.claims.leaveBehind(request) || lane.leaveUnserved(request))) {
      request.overdue = true;
      lane.claims.askFor(request, Mode.TRY, later);
      // it may have been called to ask for all of them
      lane.claims.contend(later);
      return;
    }
    Claimant claimant = own == null && request.queued ? lane.claims.contender() : own;
    if (claimant != null && claimant.waiting().awaitsFirstAnswer()) {
      // however short the wait: one attempt is made, and its answer decides
      request.overdue = true;
      return;
    }
    lane.settle(request, claimant == null ? withoutClaim() : outcomeOf(claimant), later);
    lane.left(request, later);
  }

  private Outcome withoutClaim() {
    if (lane.holding.isBeingRenewed()) {
      // nobody has it; the store has not said yet whether it is still this process's to pass on
      return new Outcome.Failed(
          Failures.unavailable(null, lane.key.name(), engine.store.describe()));
    }
    return busyHere();
  }

  private static Outcome outcomeOf(Claimant claimant) {
    return claimant.waiting().lastAnswerWasBusy()
        ? new Outcome.Busy(claimant.waiting().busyHolder())
        : new Outcome.Failed(claimant.waiting().failure());
  }

  private Outcome busyHere() {
    Claimant current = lane.holding.claimant();
    return new Outcome.Busy(current == null ? null : current.claim.holder());
  }

  /** The store answered "busy": requests whose time had been up have their answer. */
  void settleOverdue(Claimant claimant, Later later) {
    for (Request request : lane.claims.servedBy(claimant)) {
      // one that left may have let the next one have the lock
      if (request.overdue && request.outcome() == null) {
        lane.settle(request, new Outcome.Busy(claimant.waiting().busyHolder()), later);
        lane.left(request, later);
      }
    }
  }

  /** The first answer that overdue requests waited for was a grant, for another request of this process. */
  void busyForOverdue(Later later) {
    for (Request other : lane.queued()) {
      if (other.overdue) {
        lane.settle(other, busyHere(), later);
      }
    }
  }

  /** The store fails: tells the requests for which waiting on makes no sense. */
  void failHopeless(Claimant claimant, Trouble trouble, Later later) {
    long now = engine.ticker.nanos();
    for (Request request : lane.claims.servedBy(claimant)) {
      if (isHopeless(request, claimant, trouble, now) && request.outcome() == null) {
        lane.settle(request, new Outcome.Failed(claimant.waiting().failure()), later);
        lane.left(request, later);
      }
    }
  }

  private boolean isHopeless(Request request, Claimant claimant, Trouble trouble, long now) {
    if (trouble.isPermanent() || request.overdue) {
      return true;
    }
    if (request.onlyTry) {
      long next = now + trouble.pauseNanos();
      return next - claimant.attempts.triesSince(request) >= engine.requestNanos(claimant.claim);
    }
    return request.untimedWait() && trouble.hasLasted(engine.storeRetryNanos, now);
  }
}
