// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.HoldfastException;

/**
 * Others have changed the data since it was read, each time it was tried. Nothing of the last attempt, or of those before
 * it, was committed; nothing is broken. Trying again later may help; where it happens often, a lock that waits serves
 * better: see {@link RowLock}.
 */
public final class VersionConflictException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  /** How often it was tried. */
  private final int attempts;

  /**
   * Makes an exception.
   *
   * @param what what was changed, for people to read
   * @param store the kind of database
   * @param attempts how often it was tried
   */
  VersionConflictException(String what, String store, int attempts) {
    super(
        what + " was changed by others since it was read"
            + (attempts == 1 ? "" : ", in each of " + attempts + " attempts"),
        null,
        store,
        null);
    this.attempts = attempts;
  }

  /**
   * Returns how often it was tried.
   *
   * @return 1 or more
   */
  public int attempts() {
    return attempts;
  }
}
