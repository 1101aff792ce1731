// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Pauses between tries on a busy file, on a thread of the store's own. Transactions take tens of microseconds, so the
 * first pauses are short; SQLite's own busy handler would begin with a millisecond.
 */
final class SqliteBackoff {
  private static final long SHORTEST_NANOS = 30_000;
  private static final long LONGEST_NANOS = 5_000_000;

  private final SplittableRandom random;
  private long next = SHORTEST_NANOS;

  SqliteBackoff(SplittableRandom random) {
    this.random = random;
  }

  void reset() {
    next = SHORTEST_NANOS;
  }

  /** Pauses for the next longer time; ends at once when the store interrupts its thread because it closes. */
  void pause() {
    LockSupport.parkNanos(this, random.nextLong(next / 2, next));
    next = Math.min(next * 2, LONGEST_NANOS);
    // Nobody but close() interrupts this thread, and whoever called us looks for that next. A flag that stayed set
    // would turn the following pauses into a spin.
    if (Thread.interrupted()) {
      next = SHORTEST_NANOS;
    }
  }
}
