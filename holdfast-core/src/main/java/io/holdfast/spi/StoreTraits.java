// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * What the engine needs to know of a store to drive it.
 *
 * @param queues whether {@link Mode#QUEUE} leaves a waiter in the store for plain claims too, which is then granted in
 *     turn; false where waiters look again
 * @param waiterLease how long a queued claim lasts without {@link LockStore#keep}, and how long a pushed grant lasts
 * @param pollAtMost the longest that a waiter stays out between two looks, on stores where waiters look again
 */
public record StoreTraits(boolean queues, Duration waiterLease, Duration pollAtMost) {
  /** Checks that nothing is null. */
  public StoreTraits {
    Objects.requireNonNull(waiterLease, "waiterLease");
    Objects.requireNonNull(pollAtMost, "pollAtMost");
  }
}
