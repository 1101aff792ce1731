// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.Objects;
import java.util.random.RandomGenerator;

/**
 * What the engine lends to a store.
 *
 * @param client the client's id, 32 hex digits, the {@link ClaimId#client()} of all its claims
 * @param ticker the local clocks
 * @param scheduler the timer; its tasks never block
 * @param random jitter
 * @param requestTimeout how long one request may take before the engine gives it up
 */
public record StoreRuntime(
    String client,
    Ticker ticker,
    Scheduler scheduler,
    RandomGenerator random,
    Duration requestTimeout) {
  /** Checks that nothing is null. */
  public StoreRuntime {
    Objects.requireNonNull(client, "client");
    Objects.requireNonNull(ticker, "ticker");
    Objects.requireNonNull(scheduler, "scheduler");
    Objects.requireNonNull(random, "random");
    Objects.requireNonNull(requestTimeout, "requestTimeout");
  }
}
