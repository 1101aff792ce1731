// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** I3: each grant's revision exceeds all earlier ones; each hold's token belongs to a grant, and is its own alone. */
final class TokenOrder extends Judge {
  private final Map<String, Long> revisions = new HashMap<>();
  private final Map<String, Set<Long>> granted = new HashMap<>();
  private final Map<String, Long> tokens = new HashMap<>();
  private boolean steppedForward;

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case GRANTED -> {
        Long before = revisions.put(event.lock(), event.number());
        if (before != null && before >= event.number()) {
          broken(event, "revision " + event.number() + " after " + before);
        }
        granted.computeIfAbsent(event.lock(), name -> new HashSet<>()).add(event.number());
      }
      case ACQUIRED -> acquired(event);
      // then a grant may be made while an earlier one is valid still, and its answer on its way
      case STORE_STEPPED -> steppedForward |= event.number() > 0;
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void acquired(Event event) {
    long token = event.other();
    if (!granted.getOrDefault(event.lock(), Set.of()).contains(token >> 8)) {
      broken(event, "token " + token + " belongs to no grant");
    }
    String mine = event.process() + "/" + event.lock();
    Long before = tokens.put(mine, token);
    if (before != null && before >= token && !steppedForward) {
      broken(event, "token " + token + " after " + before);
    }
  }
}
