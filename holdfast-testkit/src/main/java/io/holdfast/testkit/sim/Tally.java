// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.EnumMap;
import java.util.Map;

/** How often things happened, by their kind. */
final class Tally<E extends Enum<E>> {
  private final EnumMap<E, long[]> counts;

  Tally(Class<E> kinds) {
    counts = new EnumMap<>(kinds);
    for (E kind : kinds.getEnumConstants()) {
      counts.put(kind, new long[1]);
    }
  }

  long of(E kind) {
    return cell(kind)[0];
  }

  void set(E kind, long value) {
    cell(kind)[0] = value;
  }

  void add(E kind, long more) {
    cell(kind)[0] += more;
  }

  void addAll(Tally<E> other) {
    for (Map.Entry<E, long[]> entry : other.counts.entrySet()) {
      add(entry.getKey(), entry.getValue()[0]);
    }
  }

  long sum() {
    long sum = 0;
    for (long[] count : counts.values()) {
      sum += count[0];
    }
    return sum;
  }

  private long[] cell(E kind) {
    return java.util.Objects.requireNonNull(counts.get(kind));
  }
}
