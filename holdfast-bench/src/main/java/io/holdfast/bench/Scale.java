// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.time.Duration;

/**
 * How long everything is measured.
 *
 * @param warmUps how often before that, for the compiler
 * @param trials how often each contender has its turn; the median counts
 * @param trial how long a turn is
 * @param holds how many holds are kept at once
 * @param keep how long they are kept
 */
record Scale(int warmUps, int trials, Duration trial, int holds, Duration keep) {
  /** What the published numbers are made with. */
  static final Scale FULL =
      new Scale(25, 15, Duration.ofMillis(400), 100_000, Duration.ofMinutes(2));

  /** About a minute, for somebody who changes something. */
  static final Scale QUICK =
      new Scale(25, 5, Duration.ofMillis(200), 100_000, Duration.ofSeconds(15));

  /** Just enough to see that everything runs. */
  static final Scale SMOKE = new Scale(0, 1, Duration.ofMillis(3), 100, Duration.ofMillis(20));
}
