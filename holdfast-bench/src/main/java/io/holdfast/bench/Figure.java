// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Samples;
import io.holdfast.measure.Waits;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one contender reached.
 *
 * @param who its name
 * @param role what it is there for
 * @param median of its trials
 * @param least of them
 * @param greatest of them
 * @param beside what was seen besides, by its name
 * @param note what is no number
 */
record Figure(
    String who,
    Role role,
    double median,
    double least,
    double greatest,
    Map<String, Double> beside,
    String note) {
  /** How often two had a lock at once. */
  static final String VIOLATIONS = "violations";

  /** How many locks were gone that should have been kept. */
  static final String LOST = "lost";

  Figure {
    beside = new LinkedHashMap<>(beside);
  }

  static Figure of(String who, Samples samples) {
    return new Figure(
        who, Role.of(who), samples.median(), samples.least(), samples.greatest(), Map.of(), "");
  }

  /** What was measured once. */
  static Figure of(String who, double value) {
    return of(who, new Samples(new double[] {value}));
  }

  /** Returns the same, with something that was counted besides. */
  Figure with(String name, long count) {
    return with(name, (double) count);
  }

  /** Returns the same, with something that was seen besides. */
  Figure with(String name, double value) {
    Map<String, Double> more = new LinkedHashMap<>(beside);
    more.put(name, value);
    return new Figure(who, role, median, least, greatest, more, note);
  }

  /** Returns the same, with what its waits were. */
  Figure with(Waits waits) {
    return with("p50 ms", waits.micros(0.5) / 1e3)
        .with("p99 ms", waits.micros(0.99) / 1e3)
        .with("max ms", waits.maxMicros() / 1e3);
  }

  /** Returns the same, with words. */
  Figure noting(String words) {
    return new Figure(who, role, median, least, greatest, beside, words);
  }

  /** Returns what was seen besides, or zero. */
  double beside(String name) {
    return beside.getOrDefault(name, 0.0);
  }

  /** Says the median, and what it lies between. */
  String spread() {
    return least == greatest
        ? Text.number(median)
        : Text.number(median) + " (" + Text.number(least) + "–" + Text.number(greatest) + ")";
  }
}
