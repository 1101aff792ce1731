// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A run of failures without an answer between them. Guarded by the lane's lock. */
final class Trouble {
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final int PAUSES = 6;

  private long sinceNanos;
  private int count;
  private @Nullable Throwable cause;

  /** Trouble that began when the first request that failed was sent. */
  Trouble(long sinceNanos) {
    this.sinceNanos = sinceNanos;
  }

  /** A request failed; null means that it stayed without an answer. */
  void add(@Nullable Throwable failure, long nowNanos) {
    count++;
    cause = failure == null ? null : Failures.unwrap(failure);
    if (readyIn().isPresent()) {
      sinceNanos = nowNanos;
    }
  }

  /** After what time the store can serve, as it said last. */
  Optional<Duration> readyIn() {
    return cause instanceof StoreException said ? said.readyIn() : Optional.empty();
  }

  @Nullable
  Throwable cause() {
    return cause;
  }

  /** Whether the store has failed for so long without a word about when it can serve. */
  boolean hasLasted(long nanos, long nowNanos) {
    return readyIn().isEmpty() && nowNanos - sinceNanos >= nanos;
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
