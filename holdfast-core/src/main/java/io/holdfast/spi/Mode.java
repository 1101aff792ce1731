// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

/** What an attempt leaves behind when the lock is busy. */
public enum Mode {
  /** Nothing. */
  TRY,
  /** A waiter, on stores that have a queue; it stays until {@link LockStore#end}. */
  QUEUE
}
