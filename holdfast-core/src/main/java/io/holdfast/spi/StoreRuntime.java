// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * What the engine lends to a store.
 *
 * @param client the client's id, 32 hex digits, the {@link ClaimId#client()} of all its claims
 * @param ticker the local clocks
 * @param scheduler the timer; its tasks never block
 * @param random jitter
 * @param requestTimeout how long one request may take before the engine gives it up
 * @param callerWaits says, when a verb asks on the thread that calls it, whether that thread waits for the answer anyway and
 *     nothing else depends on it: {@link LockStore#attempt} and {@link LockStore#end} may then block it, for at most
 *     {@code requestTimeout}. Such a thread may be interrupted meanwhile, and should then return as soon as it can
 */
public record StoreRuntime(
    String client,
    Ticker ticker,
    Scheduler scheduler,
    RandomGenerator random,
    Duration requestTimeout,
    BooleanSupplier callerWaits) {
  private static final Duration ENDS_GRACE = Duration.ofSeconds(1);

  /** Checks that nothing is null. */
  public StoreRuntime {
    Objects.requireNonNull(client, "client");
    Objects.requireNonNull(ticker, "ticker");
    Objects.requireNonNull(scheduler, "scheduler");
    Objects.requireNonNull(random, "random");
    Objects.requireNonNull(requestTimeout, "requestTimeout");
    Objects.requireNonNull(callerWaits, "callerWaits");
  }

  /**
   * Lends what a store needs that never blocks its callers.
   *
   * @param client the client's id
   * @param ticker the local clocks
   * @param scheduler the timer
   * @param random jitter
   * @param requestTimeout how long one request may take
   */
  public StoreRuntime(
      String client,
      Ticker ticker,
      Scheduler scheduler,
      RandomGenerator random,
      Duration requestTimeout) {
    this(client, ticker, scheduler, random, requestTimeout, () -> false);
  }

  /**
   * Returns how long the engine repeats an end that is not answered: a store need not remember a claim for longer, unless
   * something of it is there.
   *
   * @param lease the claim's
   * @return the most, counted from the first time that the end was asked for
   */
  public Duration endsRepeatedFor(Duration lease) {
    Objects.requireNonNull(lease, "lease");
    return requestTimeout.plus(lease).plus(lease.dividedBy(100)).plus(ENDS_GRACE);
  }
}
