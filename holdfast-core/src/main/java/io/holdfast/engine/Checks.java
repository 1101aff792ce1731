// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.time.Duration;

/** Checks of arguments that several types share. */
public final class Checks {
  /** The longest duration that is taken: about ten years, far from any overflow of nanoseconds. */
  public static final Duration LONGEST = Duration.ofDays(3660);

  private Checks() {}

  /**
   * Says whether a duration can be a lease.
   *
   * @param duration any
   * @return true if it is positive and at most {@link #LONGEST}
   */
  public static boolean isPositive(Duration duration) {
    return !duration.isNegative() && !duration.isZero() && duration.compareTo(LONGEST) <= 0;
  }

  /**
   * Turns a wait into nanoseconds without overflow.
   *
   * @param wait any duration
   * @return zero if it is negative; at most {@link #LONGEST}
   */
  public static long waitNanos(Duration wait) {
    if (wait.isNegative()) {
      return 0;
    }
    return wait.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : wait.toNanos();
  }
}
