// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waits on the calling thread for an answer of the store; an interrupt does not end the wait, and the flag stays. */
final class Waiting {
  private Waiting() {}

  /**
   * Waits for an answer.
   *
   * @param why asked if none came in time: the cause, or null if it is not known
   * @throws io.holdfast.HoldfastException if it failed or did not come in time
   */
  static <T extends @Nullable Object> T forAnswer(
      CompletionStage<T> stage,
      long nanos,
      Supplier<@Nullable Throwable> why,
      @Nullable String lockName,
      String store) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    boolean interrupted = false;
    long deadline = SystemTicker.INSTANCE.nanos() + nanos;
    try {
      while (true) {
        try {
          return future.get(deadline - SystemTicker.INSTANCE.nanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          throw Failures.unavailable(why.get(), lockName, store);
        } catch (ExecutionException e) {
          throw Failures.unavailable(e, lockName, store);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits for the end of something, however it ends. */
  static void quietly(CompletableFuture<?> future, long nanos) {
    try {
      forAnswer(future.handle((value, failure) -> Boolean.TRUE), nanos, () -> null, null, "");
    } catch (io.holdfast.HoldfastException e) {
      Log.thrown(System.Logger.Level.DEBUG, "not everything was confirmed in time", e);
    }
  }
}
