// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Finds the claims that the engine has neither renewed nor ended in time. It looks often, and mostly at nothing: of the
 * claims that it saw last none is overdue before the first of them, and of those that have come since none before the
 * shortest lease has passed.
 */
final class Overdue {
  private final Ticker ticker;
  private final Map<ClaimId, OwnClaim> claims;

  /** The least that any claim stays from its refreshing on, but for those that {@link #soon} is said of. */
  private final AtomicLong shortestNanos =
      new AtomicLong(ZooKeeperGuarantees.WAITER_LEASE.toNanos());

  /** Some claim is to go at once. */
  private volatile boolean soon;

  // the timer's

  /** When it looked at all claims. */
  private Moment lookedAt;

  /** For so long, from then on, none of those becomes overdue. */
  private long quietNanos;

  Overdue(Ticker ticker, Map<ClaimId, OwnClaim> claims) {
    this.ticker = ticker;
    this.claims = claims;
    this.lookedAt = ticker.now();
  }

  /** A claim is about to come: from now on one may be overdue after its lease. */
  void expect(Claim claim) {
    long lease = claim.lease().toNanos();
    if (lease < shortestNanos.get()) {
      shortestNanos.accumulateAndGet(lease, Math::min);
    }
  }

  /** Some claim was given no time: it is overdue now. */
  void soon() {
    soon = true;
  }

  /** Tells of each claim that is overdue, and forgets those of which nothing is known. Called on the timer. */
  void look(Consumer<OwnClaim> found) {
    Moment now = ticker.now();
    long since = lookedAt.elapsedNanos(now.nanos(), now.wallMillis());
    if (!soon && since < Math.min(quietNanos, shortestNanos.get())) {
      return;
    }
    // before the look: what comes to be while it goes on is for the next one
    soon = false;
    long quiet = Long.MAX_VALUE;
    for (OwnClaim own : claims.values()) {
      long left = own.staysNanos(ticker);
      quiet = Math.min(quiet, left);
      if (left < 0 && own.isIdle()) {
        found.accept(own);
      } else if (own.isIdleWithoutNode()) {
        claims.computeIfPresent(own.claim.id(), (id, known) -> known.leaveIfNothing(ticker));
      }
    }
    lookedAt = now;
    quietNanos = quiet;
  }
}
