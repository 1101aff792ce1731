// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/** The textbook's: no token, as a rule no doubt, and no look at what the store says when it is given back. */
@FunctionalInterface
interface TextbookGrip extends Grip {
  /** Asks the store to end it. */
  void giveBack();

  @Override
  default long token() {
    return 0;
  }

  @Override
  default long remainingNanos() {
    return Long.MAX_VALUE;
  }

  @Override
  default boolean release() {
    giveBack();
    return true;
  }
}
