// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.LockOptions;

/**
 * Tests whose leases end while they look: on a machine that stands still, a look may come too late to show anything. Such
 * a round is repeated with a lease twice as long, a few times; whatever else fails, fails at once.
 */
public final class Rounds {
  private static final int MOST = 4;

  private Rounds() {}

  /** A test with one lease. */
  @FunctionalInterface
  public interface Round {
    /**
     * Looks once.
     *
     * @param options with the lease of this round
     * @return false if it came too late to show anything
     * @throws Exception if it has shown that something is wrong
     */
    boolean shows(LockOptions options) throws Exception;
  }

  /**
   * Repeats a round until it shows something.
   *
   * @param first the options of the first round; the lease of each later one is twice as long
   * @param round what is repeated
   * @throws AssertionError if no round shows anything
   * @throws Exception if a round fails
   */
  public static void untilShown(LockOptions first, Round round) throws Exception {
    LockOptions options = first;
    for (int i = 0; i < MOST; i++) {
      if (round.shows(options)) {
        return;
      }
      options = options.toBuilder().leaseFor(options.leaseFor().multipliedBy(2)).build();
    }
    throw new AssertionError("none of " + MOST + " rounds came in time to show anything");
  }
}
