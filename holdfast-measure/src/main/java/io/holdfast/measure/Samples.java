// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import java.util.Arrays;

/** The same thing measured several times. */
public final class Samples {
  private final double[] sorted;

  /**
   * Takes what was measured.
   *
   * @param values in any order, one at least
   */
  public Samples(double[] values) {
    if (values.length == 0) {
      throw new IllegalArgumentException("nothing was measured");
    }
    sorted = values.clone();
    Arrays.sort(sorted);
  }

  /**
   * Returns what as many are above as below.
   *
   * @return the median
   */
  public double median() {
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /**
   * Returns the least.
   *
   * @return the least
   */
  public double least() {
    return sorted[0];
  }

  /**
   * Returns the greatest.
   *
   * @return the greatest
   */
  public double greatest() {
    return sorted[sorted.length - 1];
  }
}
