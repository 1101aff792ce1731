// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a state, for a bounded time. */
final class Patience {
  private static final long SECONDS = 20;

  private Patience() {}

  static void until(BooleanSupplier state) {
    until(SECONDS, state);
  }

  /** For what is much work on a busy machine. */
  static void until(long seconds, BooleanSupplier state) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!state.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("not so within " + seconds + " s");
      }
      LockSupport.parkNanos(2_000_000);
    }
  }
}
