// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import org.jspecify.annotations.Nullable;

/**
 * What keeps this process from asking the store for a lock that it wants: its own release, while that is not answered;
 * and the others' turn, on stores where waiters look from time to time. Guarded by the lane's lock.
 */
final class Restraint {
  private final Lane lane;

  /** The claim whose release was sent and not answered yet; nobody asks the store anew before that. */
  private @Nullable Claimant releasing;

  private @Nullable StayOut stayOut;

  Restraint(Lane lane) {
    this.lane = lane;
  }

  boolean holdsBack() {
    return releasing != null || (stayOut != null && stayOut.holdsBack);
  }

  /** The release of a claim is being sent. */
  void releasing(Claimant claimant) {
    releasing = claimant;
  }

  /** The first answer to the end of a claim came, or will not come: the next claim may ask. */
  void firstEndDone(Claimant claimant, Later later) {
    if (releasing != claimant) {
      return;
    }
    releasing = null;
    if (lane.engine.traits.queues()) {
      if (lane.holding.isEmpty()) {
        lane.holding.yielded();
      }
    } else if (lane.holding.othersWait()) {
      giveOthersAChance();
    }
    lane.claims.callOrContend(later);
  }

  /** Remembers the turn for one interval of the others, and stays out meanwhile once it is over. */
  private void giveOthersAChance() {
    long now = lane.engine.ticker.nanos();
    boolean over = lane.holding.isOthersTurn(now);
    StayOut before = stayOut;
    if (before != null && (before.holdsBack || !over)) {
      return;
    }
    if (before != null) {
      lane.engine.timer.clear(before);
    }
    StayOut fresh = new StayOut(this, over);
    stayOut = fresh;
    lane.engine.timer.set(fresh, now + lane.engine.traits.pollAtMost().toNanos());
  }

  /** The others have had their chance to look. */
  void stayedOut(StayOut entry) {
    lane.step(later -> {
      if (stayOut == entry) {
        stayOut = null;
        if (lane.isIdle()) {
          lane.holding.yielded();
        }
        lane.claims.contend(later);
      }
    });
  }
}
