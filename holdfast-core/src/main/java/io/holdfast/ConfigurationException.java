// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What was asked for cannot work here: an unknown store, an option the store cannot give. Says what to change. */
public final class ConfigurationException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an exception.
   *
   * @param message what is wrong and what to change
   * @param store the store, without secrets
   * @param cause the cause, or null
   */
  public ConfigurationException(String message, String store, @Nullable Throwable cause) {
    super(message, null, store, cause);
  }

  /**
   * Makes an exception that concerns one lock.
   *
   * @param message what is wrong and what to change
   * @param lockName the lock
   * @param store the store, without secrets
   * @param cause the cause, or null
   */
  public ConfigurationException(
      String message, String lockName, String store, @Nullable Throwable cause) {
    super(message, Objects.requireNonNull(lockName, "lockName"), store, cause);
  }
}
