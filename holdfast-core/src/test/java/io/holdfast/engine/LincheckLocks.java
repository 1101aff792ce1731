// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Locks for Lincheck, each with a name of its own. */
final class LincheckLocks {
  private static final AtomicInteger NAMES = new AtomicInteger();
  private static @Nullable Holdfast client;
  private static Runnable cleanUpBefore = () -> {};

  private LincheckLocks() {}

  /**
   * Makes a lock for one invocation.
   *
   * @param cleanUp frees what the invocation leaves locked; run when the next one begins
   */
  static synchronized EngineLock fresh(Runnable cleanUp) {
    cleanUpBefore.run();
    cleanUpBefore = cleanUp;
    Holdfast shared = client;
    if (shared == null) {
      // a request that no standstill of the machine makes late: one that is late is made anew after a pause
      shared = Holdfast.builder()
          .store("memory:")
          .requestTimeout(Duration.ofHours(1))
          .build();
      client = shared;
    }
    // a lease that needs no renewal while the test runs
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofHours(1)).build();
    return (EngineLock) shared.lock("lock-" + NAMES.incrementAndGet(), options);
  }

  static synchronized void close() {
    Holdfast shared = client;
    client = null;
    cleanUpBefore.run();
    cleanUpBefore = () -> {};
    if (shared != null) {
      shared.close();
    }
  }
}
