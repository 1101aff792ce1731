// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

/**
 * Something that was done to a lock, and took effect at one moment of an interval.
 *
 * @param kind what
 * @param owner who: a hold, or where a lock is reentrant a thread
 * @param token the hold's token; 0 where there is none
 * @param from not before this
 * @param until not after this; {@link #OPEN} if nobody knows whether it took effect at all
 */
record Operation(Kind kind, String owner, long token, long from, long until) {
  /** The {@link #until} of what may take effect at any later time, or never. */
  static final long OPEN = Long.MAX_VALUE;

  /** What can be done to a lock. */
  enum Kind {
    /** Takes it. */
    ACQUIRE,
    /** Gives it back, or loses it. */
    END
  }

  boolean isOpen() {
    return until == OPEN;
  }
}
