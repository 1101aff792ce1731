// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Scheduler.Scheduled;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives up on an answer that does not come. The engine does so for its own questions, and the driver does not: a command
 * may hang if the server does, and one that was written just as the connection broke may be forgotten.
 */
final class Limit {
  private Limit() {}

  static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  /**
   * Returns a stage that ends as another one does, or fails when the time is up.
   *
   * @param late makes the failure
   */
  static <T extends @Nullable Object> CompletableFuture<T> on(
      CompletionStage<T> answer,
      StoreRuntime runtime,
      Duration time,
      Supplier<? extends Throwable> late) {
    CompletableFuture<T> limited = new CompletableFuture<>();
    Scheduled alarm = runtime
        .scheduler()
        .schedule(() -> limited.completeExceptionally(late.get()), time.toNanos());
    answer.whenComplete((value, failure) -> {
      alarm.cancel();
      if (failure == null) {
        limited.complete(value);
      } else {
        limited.completeExceptionally(failure);
      }
    });
    return limited;
  }
}
