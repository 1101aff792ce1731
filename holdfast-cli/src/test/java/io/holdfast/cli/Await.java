// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Waits for states of other processes, by looking; never for time to pass. */
final class Await {
  /** How long a busy machine may take for anything. */
  static final Duration PATIENCE = Duration.ofSeconds(90);

  private static final long LOOK_MILLIS = 10;

  private Await() {}

  /** Waits until something is so; fails with what {@code otherwise} says if that takes too long. */
  static void until(String what, Callable<Boolean> condition, Supplier<String> otherwise) {
    CountDownLatch never = new CountDownLatch(1);
    long end = System.nanoTime() + PATIENCE.toNanos();
    try {
      while (!condition.call()) {
        if (System.nanoTime() - end > 0) {
          throw new AssertionError("not within " + PATIENCE + ": " + what + "\n" + otherwise.get());
        }
        if (never.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          throw new AssertionError("impossible");
        }
      }
    } catch (IOException | RuntimeException e) {
      throw new AssertionError("while waiting: " + what, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting: " + what, e);
    } catch (Exception e) {
      throw new AssertionError("while waiting: " + what, e);
    }
  }
}
