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

  /** Is told where somebody is in a reentrant lock. */
  interface Witness {
    /** He has it. */
    void entered(long token);

    /** He is in once more. */
    void reentered(long token);

    /** He has left once, and is in still. */
    void left(long token);

    /** He leaves for the last time. */
    void leaving(long token);

    /** He has left for the last time; or had lost it. */
    void over(long token, boolean lost);
  }

  /**
   * Uses a lock as a reentrant one, if the protocol has such.
   *
   * @param witness is told
   * @return what was wrong; empty if nothing
   * @throws InterruptedException if the thread is interrupted
   */
  default Optional<String> tryReentrancy(String name, Witness witness) throws InterruptedException {
    return Optional.empty();
  }

  @Override
  void close();
}
