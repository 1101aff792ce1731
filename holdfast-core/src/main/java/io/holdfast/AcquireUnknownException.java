// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The store was asked for the lock and its answer never came: it may or may not have granted it. The caller does not
 * hold the lock. The request is being withdrawn in the background, until the store confirms that nothing is left or the
 * lease that it may have granted has ended; until then others may find the lock busy.
 */
public final class AcquireUnknownException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an exception.
   *
   * @param message what happened
   * @param lockName the lock
   * @param store the store, without secrets
   * @param cause the last failure, or null when no answer came at all
   */
  public AcquireUnknownException(
      String message, String lockName, String store, @Nullable Throwable cause) {
    super(message, Objects.requireNonNull(lockName, "lockName"), store, cause);
  }
}
