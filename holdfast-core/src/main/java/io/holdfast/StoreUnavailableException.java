// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The request failed: the store could not be reached, refused it, or had an error. An acquisition that fails so has left
 * nothing in the store, or nothing that lasts longer than a moment; for a release see {@link Hold#release()}. Never means
 * that the lock is busy.
 */
public final class StoreUnavailableException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  /** Why the store did not answer as it should. */
  public enum Reason {
    /** No connection, or no answer in time. Trying again later may help. */
    UNREACHABLE,
    /** The store answered, and refused us: login, permission, read-only. A person has to act. */
    REFUSED,
    /** The store has no room left. A person has to act. */
    FULL,
    /**
     * The store granted the lock, but fewer of its replicas confirmed that in time than were asked for, and the grant
     * is being given back. Thrown at once, even if the caller is ready to wait; trying again later may help.
     */
    NOT_REPLICATED,
    /** What the store holds is not readable, or not ours, or newer than this version. It was left untouched. */
    DAMAGED
  }

  private final Reason reason;

  /**
   * Makes an exception.
   *
   * @param message what happened and what to do
   * @param lockName the lock concerned, or null
   * @param store the store, without secrets
   * @param reason why
   * @param cause the cause, or null
   */
  public StoreUnavailableException(
      String message,
      @Nullable String lockName,
      String store,
      Reason reason,
      @Nullable Throwable cause) {
    super(message, lockName, store, cause);
    this.reason = Objects.requireNonNull(reason, "reason");
  }

  /**
   * Returns why the store did not answer as it should.
   *
   * @return the reason
   */
  public Reason reason() {
    return reason;
  }
}
