// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** I8: renewals of one lease come one after another, and end with it. */
final class Renewals extends Judge {
  private final Map<String, Event> underWay = new HashMap<>();
  private final Set<String> ending = new HashSet<>();

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case KEEP_SENT -> {
        if (ending.contains(event.claim())) {
          broken(event, "renewed after its release or loss");
        }
        Event before = underWay.put(event.claim(), event);
        // clocks of process and observer differ a little
        if (before != null && event.at() - before.at() < before.other() / 100 * 97) {
          broken(event, "renewed while a renewal is under way since " + before.at());
        }
      }
      case KEEP_ANSWERED -> underWay.remove(event.claim());
      case CLAIM_ENDING, CLAIM_OVER -> ending.add(event.claim());
      case DISTURBED -> underWay.values().removeIf(sent -> sent.process() == event.process());
      default -> {
        // the rest is for the other judges
      }
    }
  }
}
