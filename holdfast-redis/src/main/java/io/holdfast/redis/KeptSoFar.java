// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Scheduler.Scheduled;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The answers to one {@code keep} that was asked in parts, of several servers or in several scripts. It is told when all
 * parts are answered or have failed; when the time is up, as soon as any part is answered: a node that stands still must
 * not keep back what was renewed at the others until their leases are over. What is missing then is unknown.
 */
final class KeptSoFar {
  private final Map<ClaimId, Kept> kept;
  private final CompletableFuture<Map<ClaimId, Kept>> told = new CompletableFuture<>();
  private volatile boolean due;

  KeptSoFar(int claims) {
    // some room, so that it does not grow
    this.kept = new ConcurrentHashMap<>(2 * claims);
  }

  void put(ClaimId claim, Kept answer) {
    kept.put(claim, answer);
  }

  /** All that a part is answered with was put. */
  void partIsAnswered() {
    if (due && !kept.isEmpty()) {
      told.complete(Map.copyOf(kept));
    }
  }

  /** Completes with what there is; fails if nothing was answered and a part has failed. */
  CompletionStage<Map<ClaimId, Kept>> when(
      List<CompletableFuture<?>> parts, StoreRuntime runtime, Duration patience) {
    Scheduled alarm = runtime
        .scheduler()
        .schedule(
            () -> {
              due = true;
              partIsAnswered();
            },
            patience.toNanos());
    CompletionStage<?> all = CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
    all.whenComplete((done, failure) -> {
      alarm.cancel();
      if (failure != null && kept.isEmpty()) {
        told.completeExceptionally(failure);
      } else {
        told.complete(kept);
      }
    });
    return told;
  }
}
