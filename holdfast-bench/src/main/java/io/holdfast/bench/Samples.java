// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.Arrays;

/** The same thing measured several times. */
final class Samples {
  private final double[] sorted;

  Samples(double[] values) {
    sorted = values.clone();
    Arrays.sort(sorted);
  }

  double median() {
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  double least() {
    return sorted[0];
  }

  double greatest() {
    return sorted[sorted.length - 1];
  }
}
