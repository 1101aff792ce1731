// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The root of every failure that Holdfast reports. Unchecked; carries the lock's name, where one is concerned, and the
 * store, never a password.
 *
 * <p>Misuse (a bad argument, a closed client) is an {@link IllegalArgumentException} or {@link IllegalStateException}
 * instead, and an interrupt is an {@link InterruptedException}.
 */
public class HoldfastException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final @Nullable String lockName;
  private final String store;

  /**
   * Makes an exception.
   *
   * @param message what happened and what to do
   * @param lockName the lock concerned, or null
   * @param store the store, as its address reads without secrets
   * @param cause the cause, or null
   */
  public HoldfastException(
      String message, @Nullable String lockName, String store, @Nullable Throwable cause) {
    super(Objects.requireNonNull(message, "message"), cause);
    this.lockName = lockName;
    this.store = Objects.requireNonNull(store, "store");
  }

  /**
   * Returns the name of the lock concerned.
   *
   * @return the name; empty where no single lock is concerned
   */
  public Optional<String> lockName() {
    return Optional.ofNullable(lockName);
  }

  /**
   * Returns the store's address without secrets.
   *
   * @return the store, for people to read
   */
  public String store() {
    return store;
  }
}
