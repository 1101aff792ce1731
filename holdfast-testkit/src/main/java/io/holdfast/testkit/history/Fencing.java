// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.Map;

/** I4: what a guarded resource takes has tokens that never go back. */
final class Fencing extends Judge {
  private final Map<String, Long> highest = new HashMap<>();

  @Override
  void see(Event event) {
    if (event.kind() == Kind.ACCEPTED) {
      Long before = highest.put(event.lock(), event.number());
      if (before != null && before > event.number()) {
        broken(event, "a write with token " + event.number() + " was taken after " + before);
      }
    }
  }
}
