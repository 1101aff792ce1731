// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Runs what comes one after the other, and counts what has come. Fields are guarded by this object's monitor. */
class Turns {
  /** A turn that is over: what came of it would stay in memory for as long as this. */
  private static final CompletableFuture<?> OVER = CompletableFuture.completedFuture(null);

  private CompletableFuture<?> last = OVER;
  private int turns;

  /** Which one is the last. */
  private int number;

  /** A turn is coming: nobody is to be forgotten before it {@link #leave leaves}. */
  final synchronized void enter() {
    turns++;
  }

  /** A turn is over, and all that depends on it. */
  final synchronized void leave() {
    turns--;
  }

  final synchronized boolean isIdle() {
    return turns == 0;
  }

  /** Runs it when all turns before it are over. */
  final <T> CompletableFuture<T> inTurn(Supplier<CompletionStage<T>> turn) {
    CompletableFuture<T> result = new CompletableFuture<>();
    CompletionStage<?> before;
    int mine;
    synchronized (this) {
      before = last;
      last = result;
      mine = ++number;
    }
    before.whenComplete((nothing, failed) -> run(mine, turn, result));
    return result;
  }

  private <T> void run(int mine, Supplier<CompletionStage<T>> turn, CompletableFuture<T> result) {
    CompletionStage<T> stage;
    try {
      stage = turn.get();
    } catch (RuntimeException | Error e) {
      stage = CompletableFuture.failedFuture(e);
    }
    stage.whenComplete((value, failure) -> {
      if (failure == null) {
        result.complete(value);
      } else {
        result.completeExceptionally(failure);
      }
      over(mine);
    });
  }

  private synchronized void over(int which) {
    if (which == number) {
      last = OVER;
    }
  }
}
