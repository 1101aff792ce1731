// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The timer's entries by the time at which they are due; entries of one time stay in the order in which they came.
 * Guarded by the timer's lock.
 *
 * <p>Renewals are due at few different times ({@link Validity#renewalGrid}), so that a hundred thousand leases are some
 * forty lists here: an entry is set and removed without touching others than its neighbours. A heap touches a dozen,
 * and nearly every one of them is a cache miss.
 */
final class DueTimes {
  /** All entries of one time: a list through the entries themselves. */
  static final class Slot {
    private final long due;
    private @Nullable Timed first;
    private @Nullable Timed last;

    private Slot(long due) {
      this.due = due;
    }

    private void add(Timed entry) {
      entry.slot = this;
      entry.earlier = last;
      if (last == null) {
        first = entry;
      } else {
        last.later = entry;
      }
      last = entry;
    }

    private void remove(Timed entry) {
      Timed before = entry.earlier;
      Timed after = entry.later;
      if (before == null) {
        first = after;
      } else {
        before.later = after;
      }
      if (after == null) {
        last = before;
      } else {
        after.earlier = before;
      }
      entry.slot = null;
      entry.earlier = null;
      entry.later = null;
    }
  }

  /** Readings of the monotonic clock may overflow: only their differences mean something. */
  private static final Comparator<Long> BY_DIFFERENCE =
      (one, other) -> Long.compare(one - other, 0);

  private final TreeMap<Long, Slot> slots = new TreeMap<>(BY_DIFFERENCE);

  /** Where the last entry went, kept also when empty: a lock that is taken and released goes there again and again. */
  private @Nullable Slot recent;

  boolean isEmpty() {
    return slots.isEmpty();
  }

  /** When the first entry is due; there must be one. */
  long firstDue() {
    return slots.firstKey();
  }

  /** Enters an entry, or moves it. */
  void set(Timed entry, long due) {
    Slot before = entry.slot;
    if (before != null && before.due == due) {
      return;
    }
    remove(entry);
    slot(due).add(entry);
  }

  private Slot slot(long due) {
    Slot old = recent;
    if (old != null && old.due == due) {
      return old;
    }
    Slot slot = slots.computeIfAbsent(due, Slot::new);
    recent = slot;
    if (old != null && old.first == null) {
      slots.remove(old.due);
    }
    return slot;
  }

  /** Takes an entry out, if it is in. */
  void remove(Timed entry) {
    Slot slot = entry.slot;
    if (slot != null) {
      slot.remove(entry);
      if (slot.first == null && slot != recent) {
        slots.remove(slot.due);
      }
    }
  }

  /** Takes out what is due, in order. */
  List<Timed> takeDue(long now) {
    List<Timed> due = new ArrayList<>();
    while (!slots.isEmpty() && slots.firstKey() - now <= 0) {
      Slot slot = slots.pollFirstEntry().getValue();
      if (slot == recent) {
        recent = null;
      }
      drain(slot, due::add);
    }
    return due;
  }

  List<Timed> all() {
    List<Timed> all = new ArrayList<>();
    for (Slot slot : slots.values()) {
      for (Timed at = slot.first; at != null; at = at.later) {
        all.add(at);
      }
    }
    return all;
  }

  void clear() {
    slots.values().forEach(slot -> drain(slot, entry -> {}));
    slots.clear();
    recent = null;
  }

  private static void drain(Slot slot, Consumer<Timed> to) {
    for (Timed entry = slot.first; entry != null; entry = slot.first) {
      slot.remove(entry);
      to.accept(entry);
    }
  }
}
