// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one run of a group has given.
 *
 * @param group its name on the command line, and of its files
 * @param about machine, versions, commit and all that the numbers depend on
 * @param loadBefore the load average of the last minute when it began
 * @param loadAfter the same when it ended
 * @param rows what was measured
 */
record Measured(
    String group, List<String> about, double loadBefore, double loadAfter, List<Row> rows) {
  Measured {
    about = List.copyOf(about);
    rows = List.copyOf(rows);
  }

  /** Returns the stores of several runs, in their order. */
  static List<String> stores(List<Measured> all) {
    return all.stream()
        .flatMap(each -> each.rows().stream())
        .map(Row::store)
        .distinct()
        .toList();
  }

  /** Finds a row without a size. */
  static Optional<Row> find(List<Measured> all, String store, Workload workload) {
    return all.stream()
        .flatMap(each -> each.rows().stream())
        .filter(row -> row.store().equals(store) && row.workload() == workload && row.size() == 0)
        .findFirst();
  }

  /** Who was measured, in the order of appearance. */
  static List<String> contenders(List<Row> some) {
    List<String> names = new ArrayList<>();
    for (Row row : some) {
      for (Figure figure : row.figures()) {
        if (!names.contains(figure.who())) {
          names.add(figure.who());
        }
      }
    }
    return names;
  }
}
