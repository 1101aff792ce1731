// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;

/**
 * A resource refused a write because it has already seen a newer token: the writer's hold ended, and a later holder
 * has written since. The write was not done.
 */
public final class StaleTokenException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  private final long token;
  private final long newest;

  /**
   * Makes an exception.
   *
   * @param resource the resource that refused
   * @param store where the resource lives, without secrets
   * @param token the token that came with the write
   * @param newest the newest token that the resource has seen
   */
  public StaleTokenException(String resource, String store, long token, long newest) {
    super(
        "resource \"" + Objects.requireNonNull(resource, "resource") + "\" refused token " + token
            + ": it has seen " + newest,
        null,
        store,
        null);
    this.token = token;
    this.newest = newest;
  }

  /**
   * Returns the token that was refused.
   *
   * @return the stale token
   */
  public long token() {
    return token;
  }

  /**
   * Returns the newest token that the resource has seen.
   *
   * @return a token greater than {@link #token()}
   */
  public long newest() {
    return newest;
  }
}
