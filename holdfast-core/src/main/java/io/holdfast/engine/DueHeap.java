// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.Arrays;
import java.util.List;

/**
 * A heap of entries by the time when they are due, earliest first. It knows where each entry sits, so that taking one out
 * leaves no garbage. Times may wrap, so they are compared by difference. Not thread-safe.
 *
 * <p>Four children to a node, and the times in an array of their own: with a hundred thousand leases nearly every step
 * of a search is a cache miss, and this has a quarter of them.
 */
final class DueHeap {
  private static final int CHILDREN = 4;

  /** Fills free places, so that they keep nothing alive. */
  private static final Timed NONE = new Timed() {
    @Override
    void due() {}
  };

  private Timed[] entries = new Timed[16];
  private long[] dues = new long[16];
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  /** The first entry; the heap must not be empty. */
  Timed first() {
    return entries[0];
  }

  /** When the first entry is due; the heap must not be empty. */
  long firstDue() {
    return dues[0];
  }

  List<Timed> all() {
    return List.of(Arrays.copyOf(entries, size));
  }

  /** Enters an entry, or moves it. */
  void set(Timed entry, long due) {
    int at = entry.heapIndex;
    if (at < 0) {
      if (size == entries.length) {
        entries = Arrays.copyOf(entries, size * 2);
        dues = Arrays.copyOf(dues, size * 2);
      }
      up(size++, entry, due);
    } else if (due - dues[at] < 0) {
      up(at, entry, due);
    } else {
      down(at, entry, due);
    }
  }

  /** Takes an entry out, if it is in. */
  void remove(Timed entry) {
    int at = entry.heapIndex;
    if (at < 0) {
      return;
    }
    entry.heapIndex = -1;
    Timed last = entries[--size];
    long due = dues[size];
    entries[size] = NONE;
    if (at == size) {
      return;
    }
    if (at > 0 && due - dues[parent(at)] < 0) {
      up(at, last, due);
    } else {
      down(at, last, due);
    }
  }

  void clear() {
    for (int i = 0; i < size; i++) {
      entries[i].heapIndex = -1;
    }
    entries = new Timed[1];
    dues = new long[1];
    size = 0;
  }

  private static int parent(int at) {
    return (at - 1) / CHILDREN;
  }

  private void up(int from, Timed entry, long due) {
    int at = from;
    while (at > 0 && due - dues[parent(at)] < 0) {
      int above = parent(at);
      place(entries[above], dues[above], at);
      at = above;
    }
    place(entry, due, at);
  }

  private void down(int from, Timed entry, long due) {
    int at = from;
    while (true) {
      int earliest = earliestChild(at);
      if (earliest < 0 || due - dues[earliest] <= 0) {
        break;
      }
      place(entries[earliest], dues[earliest], at);
      at = earliest;
    }
    place(entry, due, at);
  }

  private int earliestChild(int at) {
    int child = CHILDREN * at + 1;
    if (child >= size) {
      return -1;
    }
    int end = Math.min(child + CHILDREN, size);
    int earliest = child;
    for (int other = child + 1; other < end; other++) {
      if (dues[other] - dues[earliest] < 0) {
        earliest = other;
      }
    }
    return earliest;
  }

  private void place(Timed entry, long due, int at) {
    entries[at] = entry;
    dues[at] = due;
    entry.heapIndex = at;
  }
}
