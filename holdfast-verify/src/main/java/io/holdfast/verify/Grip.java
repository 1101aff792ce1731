// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/** A lock that somebody has, or believes to have. */
interface Grip {
  /** The token of this grant; 0 where the protocol has none. */
  long token();

  /** Returns for how long its holder may go on to believe in it; zero or less: no longer; the largest value if the protocol cannot tell. */
  long remainingNanos();

  /** Says whether its holder may still believe in it. */
  default boolean isValid() {
    return remainingNanos() > 0;
  }

  /**
   * Gives it back.
   *
   * @return whether it was still his; a protocol that cannot tell says yes
   */
  boolean release();
}
