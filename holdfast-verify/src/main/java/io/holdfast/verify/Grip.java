// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/** A lock that somebody has, or believes to have. */
interface Grip {
  /** The token of this grant; 0 where the protocol has none. */
  long token();

  /** Says whether whoever has it may believe that he still has it. A protocol that cannot tell says yes. */
  boolean isValid();

  /**
   * Gives it back.
   *
   * @return whether it was still his; a protocol that cannot tell says yes
   */
  boolean release();
}
