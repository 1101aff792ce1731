// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.testkit.Await;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Something that a test does on a thread of its own. Its failure surfaces: here, or at the end of the test. */
final class Task<T> {
  private static final int LOOKS_IN_A_ROW = 5;

  private final Thread thread;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private volatile boolean looked;

  Task(String name, Callable<T> work) {
    thread = new Thread(
        () -> {
          try {
            result.complete(work.call());
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        },
        name);
    thread.setDaemon(true);
    thread.start();
  }

  Thread thread() {
    return thread;
  }

  boolean isDone() {
    return result.isDone();
  }

  /** Waits for the end, and returns the result. */
  T get() {
    looked = true;
    return Await.value(result);
  }

  /** Waits for the end, which is expected to be a failure of this type. */
  <X extends Throwable> X failure(Class<X> type) {
    looked = true;
    Throwable failure = Await.failure(result);
    if (!type.isInstance(failure)) {
      throw new AssertionError("expected " + type.getSimpleName() + ", got " + failure, failure);
    }
    return type.cast(failure);
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Waits until the thread sits in a blocking call, and stays there for some looks. */
  Task<T> awaitWaiting() {
    int[] inARow = {0};
    Await.until(thread.getName() + " waits", () -> {
      Thread.State state = thread.getState();
      boolean waits = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
      inARow[0] = waits ? inARow[0] + 1 : 0;
      return inARow[0] >= LOOKS_IN_A_ROW || result.isDone();
    });
    if (result.isDone()) {
      throw new AssertionError(thread.getName() + " did not wait: " + result);
    }
    return this;
  }

  /** Ends the thread; what nobody looked at surfaces. */
  void join() {
    Await.until(thread.getName() + " has ended", () -> {
      if (thread.isAlive()) {
        thread.interrupt();
      }
      return !thread.isAlive();
    });
    if (!looked && result.isCompletedExceptionally()) {
      get();
    }
  }
}
