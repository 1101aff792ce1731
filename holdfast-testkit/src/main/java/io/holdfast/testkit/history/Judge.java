// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One pass over a history, for one invariant. */
abstract class Judge {
  private @Nullable List<Violation> found;
  private @Nullable Invariant invariant;
  private @Nullable Bounds bounds;
  private int index;

  /** Judges all events, in order. */
  final void judge(Invariant which, History history) {
    invariant = which;
    bounds = history.bounds();
    List<Event> events = history.events();
    for (index = 0; index < events.size(); index++) {
      see(events.get(index));
    }
  }

  /** Takes the next event in. */
  abstract void see(Event event);

  final Bounds bounds() {
    return java.util.Objects.requireNonNull(bounds);
  }

  /** Says that the invariant is broken here. */
  final void broken(Event event, String what) {
    List<Violation> list = found;
    if (list == null) {
      list = new ArrayList<>();
      found = list;
    }
    list.add(new Violation(java.util.Objects.requireNonNull(invariant), index, event, what));
  }

  final List<Violation> found() {
    return found == null ? List.of() : found;
  }
}
