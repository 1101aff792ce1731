// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one client by their numbers, from before their first attempt until nothing of them is left: where the
 * store's events find them.
 */
final class Registry implements StoreEvents {
  private final EngineSettings settings;
  private final Recovery recovery;
  private final Map<Long, Claimant> claims = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();

  // what was made last and may well be needed again; immutable, so that a race costs a copy at most
  private @Nullable Holder lastHolder;

  Registry(EngineSettings settings, Recovery recovery) {
    this.settings = settings;
    this.recovery = recovery;
  }

  /** Makes a claim; it is known from now on. */
  Claimant newClaimant(Lane lane, Request asking, Mode mode, @Nullable Request only) {
    var options = asking.options;
    ClaimId id = new ClaimId(settings.clientId(), numbers.incrementAndGet());
    Claim claim = new Claim(
        id, lane.key, 1, 1, options.leaseFor(), options.fair(), holder(asking), options.renew());
    Claimant claimant = new Claimant(lane, claim, mode, options, only);
    claims.put(id.number(), claimant);
    return claimant;
  }

  /** The number of the claim that was made last. */
  long lastClaim() {
    return numbers.get();
  }

  private Holder holder(Request asking) {
    Holder last = lastHolder;
    if (last != null
        && last.thread().equals(asking.threadName)
        && last.note().equals(asking.options.note())) {
      return last;
    }
    Holder fresh = settings.holder(asking);
    lastHolder = fresh;
    return fresh;
  }

  /** Nothing is left of a claim. */
  void forget(Claimant claimant) {
    claims.remove(claimant.claim.id().number());
  }

  boolean knows(ClaimId id) {
    return claims.containsKey(id.number());
  }

  Collection<Claimant> all() {
    return claims.values();
  }

  private @Nullable Claimant find(ClaimId id) {
    return id.client().equals(settings.clientId()) ? claims.get(id.number()) : null;
  }

  @Override
  public void granted(ClaimId claim, Grant grant) {
    Claimant claimant = find(claim);
    if (claimant != null) {
      claimant.pushed(grant);
    }
  }

  @Override
  public void lookAgain(ClaimId claim) {
    Claimant claimant = find(claim);
    if (claimant != null) {
      claimant.lookAgain();
    }
  }

  @Override
  public void lookAgainAll() {
    claims.values().forEach(Claimant::lookAgain);
  }

  @Override
  public void disturbed() {
    claims.values().forEach(claimant -> claimant.connection(false));
  }

  @Override
  public void restored() {
    recovery.restored();
  }

  @Override
  public void lost(ClaimId claim, LossReason reason) {
    Claimant claimant = find(claim);
    if (claimant != null) {
      claimant.lostInStore(reason);
    }
  }
}
