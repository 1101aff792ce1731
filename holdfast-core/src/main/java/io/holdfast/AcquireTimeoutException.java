// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Another holder had the lock until the caller's limit. The store answered; nothing is broken, and nothing is left behind
 * in the store.
 */
public final class AcquireTimeoutException extends HoldfastException {
  private static final long serialVersionUID = 1L;

  private final Duration waited;
  private final transient @Nullable Holder holder;

  /**
   * Makes an exception.
   *
   * @param lockName the lock
   * @param store the store, without secrets
   * @param waited how long the caller waited
   * @param holder who had the lock when it was last asked for, or null when the store did not say
   */
  public AcquireTimeoutException(
      String lockName, String store, Duration waited, @Nullable Holder holder) {
    super(
        "lock \"" + lockName + "\" was not free within " + DurationText.of(waited) + "; held by "
            + (holder == null ? "a holder that the store does not name" : holder.describe()),
        Objects.requireNonNull(lockName, "lockName"),
        store,
        null);
    this.waited = Objects.requireNonNull(waited, "waited");
    this.holder = holder;
  }

  /**
   * Returns how long the caller waited.
   *
   * @return the wait asked for
   */
  public Duration waited() {
    return waited;
  }

  /**
   * Returns who had the lock when it was last asked for.
   *
   * @return the holder; empty when the store did not say, or after serialization
   */
  public Optional<Holder> holder() {
    return Optional.ofNullable(holder);
  }
}
