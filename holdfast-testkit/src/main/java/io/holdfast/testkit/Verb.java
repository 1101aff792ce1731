// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

/** The requests that a store can be sent, as {@link Faults} names them. */
public enum Verb {
  /** {@link io.holdfast.spi.LockStore#connect}. */
  CONNECT,
  /** {@link io.holdfast.spi.LockStore#attempt}. */
  ATTEMPT,
  /** {@link io.holdfast.spi.LockStore#keep}: renewals, and the refreshing of waiters. */
  KEEP,
  /** {@link io.holdfast.spi.LockStore#end}: releases and withdrawals. */
  END,
  /** {@link io.holdfast.spi.LockStore#own}. */
  OWN,
  /** {@link io.holdfast.spi.LockStore#inspect} and {@link io.holdfast.spi.LockStore#list}. */
  LOOK,
  /** {@link io.holdfast.spi.LockStore#evict}. */
  EVICT
}
