// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.LockOptions;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Optional;

/**
 * When a command must be told to end, and when it must be ended, so that it is gone before its lock can pass on. Pure.
 *
 * <p>Told (SIGTERM) when what remains of the validity is at most {@code grace + reserve}, ended (SIGKILL) when it is at
 * most {@code reserve}. A healthy lease is renewed after a third and that is retried until two thirds of it; the defaults
 * fit in the last third, so a healthy command never hears of it.
 *
 * @param grace G: how long the command has between the two
 * @param reserve K: how long before the end it is certainly being killed
 */
record KillPlan(Duration grace, Duration reserve) {
  private static final Duration LONGEST_GRACE = Duration.ofSeconds(10);
  private static final Duration LONGEST_RESERVE = Duration.ofSeconds(2);

  /** What to do about the command now. */
  enum Step {
    LEAVE,
    TERMINATE,
    KILL
  }

  /**
   * Makes the plan.
   *
   * @param longest what the hold has after a renewal
   * @param asked the grace that the user asked for
   * @throws CliException if it does not leave the lease time to be renewed
   */
  static KillPlan of(Duration longest, Optional<Duration> asked) {
    if (asked.isPresent() && asked.get().compareTo(longest.dividedBy(2)) > 0) {
      throw new CliException(
          Exit.USAGE,
          "--grace " + DurationText.exact(asked.get())
              + " is more than half of the lease or of --at-most (" + DurationText.exact(longest)
              + "); shorten it or lengthen those");
    }
    return new KillPlan(
        asked.orElse(min(LONGEST_GRACE, longest.dividedBy(4))),
        min(LONGEST_RESERVE, longest.dividedBy(12)));
  }

  /** Returns what is left of a hold right after a renewal, at most. */
  static Duration longest(LockOptions options) {
    return options
        .holdAtMost()
        .map(most -> min(most, options.leaseFor()))
        .orElse(options.leaseFor());
  }

  /**
   * Returns the plan for a hold that begins with less than its lease: one that was handed over has a short lease until its
   * first renewal, and would be given up at once.
   *
   * @param remaining what the hold has at first
   * @param longest what it has after a renewal
   */
  KillPlan atFirst(Duration remaining, Duration longest) {
    return remaining.compareTo(longest.multipliedBy(4).dividedBy(5)) >= 0
        ? this
        : new KillPlan(min(grace, remaining.dividedBy(4)), min(reserve, remaining.dividedBy(12)));
  }

  /** What is due when this much of the validity remains. */
  Step due(Duration remaining) {
    if (remaining.compareTo(reserve) <= 0) {
      return Step.KILL;
    }
    return remaining.compareTo(reserve.plus(grace)) <= 0 ? Step.TERMINATE : Step.LEAVE;
  }

  /** How long nothing more becomes due, if no renewal comes. */
  Duration quiet(Duration remaining) {
    return switch (due(remaining)) {
      case LEAVE -> remaining.minus(reserve).minus(grace);
      case TERMINATE -> remaining.minus(reserve);
      case KILL -> Duration.ZERO;
    };
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }
}
