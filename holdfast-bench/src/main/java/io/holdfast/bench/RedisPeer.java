// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

/** Somebody who takes locks on the Redis server of the bench, with default options. */
interface RedisPeer extends AutoCloseable {
  /** Returns a lock. */
  Contention.Guard lock(String name);

  @Override
  void close();

  /** Takes a lock and lets it go. */
  default Loop.Cycle cycle(String name) {
    Contention.Guard lock = lock(name);
    return () -> lock.run(() -> {});
  }
}
