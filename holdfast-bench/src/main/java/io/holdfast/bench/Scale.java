// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.time.Duration;
import java.util.List;

/**
 * How long everything is measured.
 *
 * @param warmUps how often before that, for the compiler
 * @param trials how often each contender has its turn; the median counts
 * @param trial how long a turn is
 * @param holds how many holds are kept at once
 * @param keep how long they are kept
 * @param redisHolds how many are kept at once on a Redis server, one number after the other
 */
record Scale(
    int warmUps, int trials, Duration trial, int holds, Duration keep, List<Integer> redisHolds) {
  /** What the published numbers are made with. */
  static final Scale FULL = new Scale(
      25, 15, Duration.ofMillis(400), 100_000, Duration.ofMinutes(2), List.of(10_000, 100_000));

  /** Some minutes, for somebody who changes something. */
  static final Scale QUICK =
      new Scale(25, 5, Duration.ofMillis(200), 100_000, Duration.ofSeconds(15), List.of(10_000));

  /** Just enough to see that everything runs. */
  static final Scale SMOKE =
      new Scale(0, 1, Duration.ofMillis(3), 100, Duration.ofMillis(20), List.of(100));

  /** Returns the same for something that resembles what was measured just before. */
  Scale warm() {
    return new Scale(warmUps / 2, trials, trial, holds, keep, redisHolds);
  }
}
