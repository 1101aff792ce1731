// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.holdfast.measure.Loop;

/** Somebody who takes locks on a server of the bench, with default options. */
interface Peer extends AutoCloseable {
  /** Returns a lock. */
  Contention.Guard lock(String name);

  /**
   * Takes a lock and does not let it go.
   *
   * @return asks whether it is still held
   */
  default Held hold(String name) {
    throw new UnsupportedOperationException("takes no locks that last");
  }

  @Override
  void close();

  /** Takes a lock and lets it go. */
  default Loop.Cycle cycle(String name) {
    Contention.Guard lock = lock(name);
    return () -> lock.run(() -> {});
  }

  /** A lock that is held. */
  @FunctionalInterface
  interface Held {
    boolean isStillHeld();
  }
}
