// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import java.util.LinkedHashMap;
import java.util.Map;

/** What somebody has counted until now, by what it is: nothing of it is ours, as far as our own looking goes. */
@FunctionalInterface
interface Counter {
  /** Returns the counts, always under the same names and in the same order. */
  Map<String, Long> now();

  /** Returns what was counted between two looks. */
  static Map<String, Long> since(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> all = new LinkedHashMap<>();
    after.forEach((name, count) -> all.put(name, count - before.getOrDefault(name, 0L)));
    return all;
  }
}
