// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.time.Duration;
import java.util.Optional;

/** One process's way to the locks of a store, by some protocol. */
interface Locker extends AutoCloseable {
  /**
   * Asks for a lock.
   *
   * @param name the lock
   * @param wait for how long it may wait; a protocol without waiters makes one attempt, and its caller comes again
   * @param onLost is run when the hold is lost, if the protocol can tell
   * @return the lock; empty if somebody else has it
   * @throws RuntimeException if nobody knows, or the store is not there
   * @throws InterruptedException if the thread is interrupted
   */
  Optional<Grip> acquire(String name, Duration wait, Runnable onLost) throws InterruptedException;

  /**
   * Uses a lock as a reentrant one, if the protocol has such.
   *
   * @return what was wrong; empty if nothing
   * @throws InterruptedException if the thread is interrupted
   */
  default Optional<String> tryReentrancy(String name) throws InterruptedException {
    return Optional.empty();
  }

  @Override
  void close();
}
