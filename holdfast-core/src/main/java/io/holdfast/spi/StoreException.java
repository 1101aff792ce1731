// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a store's stage fails. Anything else that a stage fails with is treated as unknown.
 *
 * <p>{@link #notApplied()} is a promise: the request did not change the store and never will. Without it the outcome is
 * unknown.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final StoreUnavailableException.Reason reason;
  private final boolean notApplied;
  private final @Nullable Duration readyIn;

  /**
   * Makes an exception.
   *
   * @param message what happened and what to do; no secrets
   * @param reason the kind of failure
   * @param notApplied true only if the request certainly was not and will not be applied
   * @param cause the cause, or null
   */
  public StoreException(
      String message,
      StoreUnavailableException.Reason reason,
      boolean notApplied,
      @Nullable Throwable cause) {
    this(message, reason, notApplied, cause, null);
  }

  /**
   * Makes an exception for a store that may know when it can serve again.
   *
   * @param message what happened and what to do; no secrets
   * @param reason the kind of failure
   * @param notApplied true only if the request certainly was not and will not be applied
   * @param cause the cause, or null
   * @param readyIn how long the store needs before it can serve the request; null, or nothing positive, if it does not know
   */
  public StoreException(
      String message,
      StoreUnavailableException.Reason reason,
      boolean notApplied,
      @Nullable Throwable cause,
      @Nullable Duration readyIn) {
    super(Objects.requireNonNull(message, "message"), cause);
    this.reason = Objects.requireNonNull(reason, "reason");
    this.notApplied = notApplied;
    this.readyIn = readyIn == null || readyIn.isNegative() || readyIn.isZero() ? null : readyIn;
  }

  /**
   * Returns the kind of failure. {@code UNREACHABLE} is retried; the others are told at once.
   *
   * @return the reason
   */
  public StoreUnavailableException.Reason reason() {
    return reason;
  }

  /**
   * Says whether the request certainly changed nothing.
   *
   * @return false for unknown
   */
  public boolean notApplied() {
    return notApplied;
  }

  /**
   * Returns how long the store needs before it can serve the request. While the last failure has this and the reason {@code
   * UNREACHABLE}, a wait without a limit goes on until {@code storeRetryFor} after the time that was said first; then, as
   * ever, for {@code storeRetryFor} at most. With any other reason it has no effect.
   *
   * @return empty if the store does not know
   */
  public Optional<Duration> readyIn() {
    return Optional.ofNullable(readyIn);
  }
}
