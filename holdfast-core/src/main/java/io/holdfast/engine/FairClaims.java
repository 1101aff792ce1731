// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The fair requests of one lane: each has a claim of its own in the store's queue, so that arrival order holds between
 * threads of different processes; beyond a limit they queue here first. Guarded by the lane's lock.
 */
final class FairClaims {
  /** How many waiting claims one process may have in the store for one name. */
  static final int LIMIT = 256;

  private final Lane lane;
  private final Set<Request> inStore = new LinkedHashSet<>(0);
  private final Set<Request> behind = new LinkedHashSet<>(0);

  FairClaims(Lane lane) {
    this.lane = lane;
  }

  void add(Request request, Later later) {
    if (inStore.size() < LIMIT) {
      inStore.add(request);
      lane.claims.askFor(request, Mode.QUEUE, later);
    } else {
      behind.add(request);
    }
  }

  void remove(Request request) {
    inStore.remove(request);
    behind.remove(request);
  }

  /** Takes out a request that has no claim in the store yet; says whether it was one. */
  boolean leaveBehind(Request request) {
    return behind.remove(request);
  }

  /** A claim was granted or is over: the next one behind may ask. */
  void changed(Claimant claimant, Later later) {
    // not one that has asked anew since
    if (claimant.only != null && claimant.only.claimant == claimant) {
      inStore.remove(claimant.only);
    }
    while (inStore.size() < LIMIT && !behind.isEmpty()) {
      Request next = behind.iterator().next();
      behind.remove(next);
      add(next, later);
    }
  }

  void failAll(Later later) {
    List<Request> all = new ArrayList<>(inStore);
    all.addAll(behind);
    for (Request request : all) {
      if (request.outcome() == null) {
        lane.settle(request, new Outcome.Failed(Engine.closedException()), later);
      }
    }
  }

  boolean isEmpty() {
    return inStore.isEmpty() && behind.isEmpty();
  }
}
