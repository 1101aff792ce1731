// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.Map;

/** I10: a reentrant lock counts for each of its threads, and refuses who is not in it. */
final class Reentrancy extends Judge {
  private final Map<String, Long> counts = new HashMap<>();

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case ENTERED -> counted(event, 1);
      case LEFT -> counted(event, -1);
      case STRANGER -> {
        if (count(event) != 0) {
          broken(event, "refused a thread that is in the lock " + count(event) + " times");
        }
      }
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void counted(Event event, int step) {
    long expected = count(event) + step;
    if (expected < 0) {
      broken(event, "a thread that is not in the lock left it");
    } else if (expected != event.other()) {
      broken(event, "in the lock " + expected + " times, but counted as " + event.other());
    }
    counts.put(key(event), event.other());
  }

  private long count(Event event) {
    return counts.getOrDefault(key(event), 0L);
  }

  private static String key(Event event) {
    return event.process() + "/" + event.number() + "/" + event.lock();
  }
}
