// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Samples;
import java.util.List;
import java.util.stream.IntStream;

/** Lets contenders take turns, so that what else the machine does meets all of them. */
final class Trials {
  /** Measures once. */
  @FunctionalInterface
  interface Contender {
    double measure() throws Exception;
  }

  private Trials() {}

  /** Measures each contender as often as the scale says. */
  static List<Samples> interleave(Scale scale, Contender... contenders) throws Exception {
    double[][] values = new double[contenders.length][scale.trials()];
    for (int trial = -scale.warmUps(); trial < scale.trials(); trial++) {
      for (int i = 0; i < contenders.length; i++) {
        double value = contenders[i].measure();
        if (trial >= 0) {
          values[i][trial] = value;
        }
      }
    }
    return IntStream.range(0, contenders.length)
        .mapToObj(i -> new Samples(values[i]))
        .toList();
  }
}
