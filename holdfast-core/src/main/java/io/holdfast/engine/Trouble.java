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

  /** When it began, or when the store said last how long it needs. */
  private long sinceNanos;

  /** When the store can serve, by the first word on that: what it puts off again and again is not waited for. */
  private @Nullable Long readyNanos;

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
    readyIn().ifPresent(wait -> {
      if (readyNanos == null) {
        // its clock may be slower than ours
        readyNanos = nowNanos + wait.toNanos() + wait.toNanos() / 100;
      }
      sinceNanos = nowNanos;
    });
  }

  /** How long the store needs before it can serve, as of its last failure. */
  Optional<Duration> readyIn() {
    return cause instanceof StoreException said
        ? said.readyIn().map(wait -> Duration.ofNanos(Checks.waitNanos(wait)))
        : Optional.empty();
  }

  @Nullable
  Throwable cause() {
    return cause;
  }

  /**
   * Whether the store has failed for so long since it said when it can serve, or since the time that it named first; or
   * from the beginning, if it named none.
   */
  boolean hasLasted(long nanos, long nowNanos) {
    Long ready = readyNanos;
    boolean isPutOff = ready != null && nowNanos - ready >= nanos;
    return isPutOff || (readyIn().isEmpty() && nowNanos - sinceNanos >= nanos);
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
