// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is due in a world, earliest first, in the order of arrival among equals: a binary heap. */
final class SimQueue {
  private @Nullable SimTask[] heap = new SimTask[256];
  private int size;
  private long numbers;

  void add(SimTask task) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    task.number = numbers++;
    int at = size++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      SimTask above = Objects.requireNonNull(heap[parent]);
      if (!task.isBefore(above)) {
        break;
      }
      heap[at] = above;
      at = parent;
    }
    heap[at] = task;
  }

  /** Takes out the first task that was not cancelled; null if there is none. */
  @Nullable
  SimTask poll() {
    while (size > 0) {
      SimTask first = Objects.requireNonNull(heap[0]);
      remove();
      if (first.work != null) {
        return first;
      }
    }
    return null;
  }

  private void remove() {
    SimTask moved = Objects.requireNonNull(heap[--size]);
    heap[size] = null;
    if (size == 0) {
      return;
    }
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= size) {
        break;
      }
      SimTask below = Objects.requireNonNull(heap[child]);
      if (child + 1 < size && Objects.requireNonNull(heap[child + 1]).isBefore(below)) {
        child++;
        below = Objects.requireNonNull(heap[child]);
      }
      if (!below.isBefore(moved)) {
        break;
      }
      heap[at] = below;
      at = child;
    }
    heap[at] = moved;
  }
}
