// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * I7: when a process is done with a claim, the store has nothing of it, and never will. At the end of the run, no living
 * process has anything in the store.
 *
 * <p>A store's clock that steps back is a declared exception: what it was told not to apply any more, it may apply.
 */
final class Leaks extends Judge {
  private final Map<String, Place> places = new LinkedHashMap<>();
  private final Set<String> over = new HashSet<>();
  private final Set<String> ended = new HashSet<>();
  private final Set<String> ending = new HashSet<>();

  /** Claims that were asked for before the store's clock stepped back: a copy of a request may be applied though it is late. */
  private final Set<String> exempt = new HashSet<>();

  private final Set<Integer> dead = new HashSet<>();

  /** What the store has of a claim: its lease, or its place in the queue. */
  private record Place(int process, boolean held, long until) {}

  @Override
  void see(Event event) {
    String claim = event.claim();
    switch (event.kind()) {
      case GRANTED -> appears(event, true);
      case QUEUED -> appears(event, false);
      case EXTENDED ->
        places.computeIfPresent(
            claim, (id, place) -> new Place(place.process, place.held, event.until()));
      case ENDED, UNQUEUED, EVICTED, EXPIRED -> places.remove(claim);
      case ENDED_FINALLY -> ended.add(claim);
      case CLAIM_ENDING -> ending.add(claim);
      case CLAIM_OVER -> {
        over.add(claim);
        Place place = places.get(claim);
        boolean sure = bounds().finalByTime() || ended.contains(claim);
        if (place != null && sure && !exempt.contains(claim) && event.at() < place.until) {
          broken(event, "its process is done with it, and the store still has it " + place);
        }
      }
      case CRASHED, CLOSING -> dead.add(event.process());
      case STORE_STEPPED -> stepped(event.number());
      case END -> atRest(event);
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void appears(Event event, boolean held) {
    String claim = event.claim();
    if (exempt.contains(claim)) {
      places.put(claim, new Place(event.process(), held, event.until()));
      return;
    }
    if (over.contains(claim) && bounds().finalByTime()) {
      broken(event, "its process is done with it");
    } else if (ended.contains(claim)) {
      broken(event, "its end was final");
    }
    places.put(claim, new Place(event.process(), held, event.until()));
  }

  private void stepped(long by) {
    if (by < 0) {
      exempt.addAll(places.keySet());
      exempt.addAll(ending);
      exempt.addAll(ended);
    } else {
      places.replaceAll((claim, place) -> new Place(place.process, place.held, place.until - by));
    }
  }

  private void atRest(Event event) {
    places.forEach((claim, place) -> {
      if (event.at() < place.until && !dead.contains(place.process)) {
        broken(event, claim + " is left in the store: " + place);
      }
    });
  }
}
