// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Why the store does not answer, and how long it will grant nothing, as it has said itself. */
final class StoreWait implements LockListener {
  private final Ticker ticker;

  /** When it will be over, by the monotonic clock; null if the store has said nothing. */
  private volatile @Nullable Long endNanos;

  private volatile @Nullable String trouble;

  StoreWait(Ticker ticker) {
    this.ticker = ticker;
  }

  @Override
  public void on(LockEvent event) {
    if (event instanceof LockEvent.Retrying retrying) {
      trouble = retrying.why();
      endNanos = retrying.readyIn().map(wait -> ticker.nanos() + wait.toNanos()).orElse(null);
    }
  }

  /** Returns what failed last; empty if nothing has. */
  Optional<String> trouble() {
    return Optional.ofNullable(trouble);
  }

  /** Returns what is left of it; empty if it is over, or the store has said nothing. */
  Optional<Duration> left() {
    Long end = endNanos;
    return Optional.ofNullable(end)
        .map(nanos -> Duration.ofNanos(nanos - ticker.nanos()))
        .filter(left -> !left.isNegative() && !left.isZero());
  }
}
