// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Ticker;
import io.holdfast.measure.Samples;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** Lets contenders take turns, so that what else the machine does meets all of them. */
final class Trials {
  /** So many of our client's cycles it takes until the compiler is through with it. */
  static final int WARM_CYCLES = 10_000;

  /** Measures once. */
  @FunctionalInterface
  interface Contender {
    /** Returns cycles per second. */
    double measure() throws Exception;
  }

  private Trials() {}

  /** Measures each contender as often as the scale says, after as many turns to warm up as it says. */
  static List<Samples> interleave(Scale scale, Contender... contenders) throws Exception {
    warmUp(Ticker.system(), scale.warmUps(), Duration.ZERO, contenders);
    return measure(scale.trials(), contenders);
  }

  /**
   * The same, with more turns to warm up where cycles are slow: what is measured is what a service has that runs for days,
   * and not how fast the compiler is.
   */
  static List<Samples> interleaveWarm(Scale scale, Contender... contenders) throws Exception {
    warmUp(Ticker.system(), scale.warmUps(), scale.longestWarmUp(), contenders);
    return measure(scale.trials(), contenders);
  }

  /** So many turns each; then each until it has done its cycles or has taken the time for that. */
  static void warmUp(Ticker ticker, int turns, Duration longest, Contender... contenders)
      throws Exception {
    double[] cycles = new double[contenders.length];
    long[] nanosMore = new long[contenders.length];
    boolean again = true;
    for (int turn = 0; again; turn++) {
      again = false;
      for (int i = 0; i < contenders.length; i++) {
        boolean more = turn >= turns;
        if (more && (cycles[i] >= WARM_CYCLES || nanosMore[i] >= longest.toNanos())) {
          continue;
        }
        long begin = ticker.nanos();
        double rate = contenders[i].measure();
        long nanos = ticker.nanos() - begin;
        cycles[i] += rate * nanos / 1e9;
        nanosMore[i] += more ? nanos : 0;
        again = true;
      }
    }
  }

  private static List<Samples> measure(int trials, Contender... contenders) throws Exception {
    double[][] values = new double[contenders.length][trials];
    for (int trial = 0; trial < trials; trial++) {
      for (int i = 0; i < contenders.length; i++) {
        values[i][trial] = contenders[i].measure();
      }
    }
    return IntStream.range(0, contenders.length)
        .mapToObj(i -> new Samples(values[i]))
        .toList();
  }
}
