// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;

/** A run of failures without an answer between them. Guarded by the lane's lock. */
final class Trouble {
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final int PAUSES = 6;

  private final long sinceNanos;
  private int count;
  private @Nullable Throwable cause;

  /** Trouble that began when the first request that failed was sent. */
  Trouble(long sinceNanos) {
    this.sinceNanos = sinceNanos;
  }

  /** A request failed; null means that it stayed without an answer. */
  void add(@Nullable Throwable failure) {
    count++;
    cause = failure == null ? null : Failures.unwrap(failure);
  }

  @Nullable
  Throwable cause() {
    return cause;
  }

  long lastedNanos(long nowNanos) {
    return nowNanos - sinceNanos;
  }

  /** Whether waiting cannot help: a person has to act. */
  boolean isPermanent() {
    if (cause instanceof StoreException failure) {
      return failure.reason() != StoreUnavailableException.Reason.UNREACHABLE;
    }
    return cause instanceof ConfigurationException || cause instanceof IllegalArgumentException;
  }

  /** How long to pause before the next attempt: 20 ms, doubled up to 640 ms. */
  long pauseNanos() {
    return FIRST_PAUSE_NANOS << Math.min(count - 1, PAUSES - 1);
  }
}
