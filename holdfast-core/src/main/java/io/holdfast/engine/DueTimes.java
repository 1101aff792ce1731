// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The timer's entries by the time at which they are due; entries of one time stay in the order in which they came.
 * Guarded by the timer's lock.
 *
 * <p>Renewals are due at few different times ({@link Validity#renewalGrid}), so that a hundred thousand leases are some
 * forty lists here: an entry is set and removed without touching others. A heap touches a dozen, and nearly every one of
 * them is a cache miss. An entry knows its place by numbers, not by references: each reference that is written into an
 * old object is work for the collector later.
 */
final class DueTimes {
  /** All entries of one time, with gaps where some were taken out. */
  private static final class Slot {
    private final long due;
    private @Nullable Timed[] entries = new @Nullable Timed[4];
    private int end;
    private int live;

    private Slot(long due) {
      this.due = due;
    }

    private void add(Timed entry) {
      if (end == entries.length) {
        makeRoom();
      }
      entries[end] = entry;
      entry.dueNanos = due;
      entry.place = end++;
      live++;
    }

    private void makeRoom() {
      @Nullable Timed[] old = entries;
      int used = end;
      entries = new @Nullable Timed[Math.max(4, live * 2)];
      end = 0;
      for (int i = 0; i < used; i++) {
        Timed entry = old[i];
        if (entry != null) {
          entry.place = end;
          entries[end++] = entry;
        }
      }
    }

    private void remove(Timed entry) {
      entries[entry.place] = null;
      if (entry.place == end - 1) {
        end--;
      }
      live--;
      if (live == 0) {
        end = 0;
      }
      entry.place = Timed.NOWHERE;
    }

    private void forEach(Consumer<Timed> to) {
      for (int i = 0; i < end; i++) {
        Timed entry = entries[i];
        if (entry != null) {
          to.accept(entry);
        }
      }
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
    if (entry.place != Timed.NOWHERE && entry.dueNanos == due) {
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
    if (old != null && old.live == 0) {
      slots.remove(old.due);
    }
    return slot;
  }

  /** Takes an entry out, if it is in. */
  void remove(Timed entry) {
    if (entry.place == Timed.NOWHERE) {
      return;
    }
    Slot near = recent;
    Slot slot = near != null && near.due == entry.dueNanos
        ? near
        : Objects.requireNonNull(slots.get(entry.dueNanos), "an entry's slot is among the slots");
    slot.remove(entry);
    if (slot.live == 0 && slot != recent) {
      slots.remove(slot.due);
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
      slot.forEach(entry -> {
        entry.place = Timed.NOWHERE;
        due.add(entry);
      });
    }
    return due;
  }

  List<Timed> all() {
    List<Timed> all = new ArrayList<>();
    slots.values().forEach(slot -> slot.forEach(all::add));
    return all;
  }

  void clear() {
    slots.values().forEach(slot -> slot.forEach(entry -> entry.place = Timed.NOWHERE));
    slots.clear();
    recent = null;
  }
}
