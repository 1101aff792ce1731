// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;

/** Runs users' code on the callback executor: what it throws is caught, logged and counted. */
final class Callbacks {
  private final Executor executor;
  private final LongAdder failures = new LongAdder();

  Callbacks(Executor executor) {
    this.executor = executor;
  }

  /** Runs a task on the executor; if that refuses, on the calling thread, so that nothing is lost. */
  void run(Runnable task) {
    Runnable guarded = () -> guard(task);
    try {
      executor.execute(guarded);
    } catch (Throwable e) {
      // closed, full, or no thread to be had: late on a wrong thread is better than never
      Log.thrown(
          Level.DEBUG, "the callback executor refused a task; it runs on the calling thread", e);
      guarded.run();
    }
  }

  long failures() {
    return failures.sum();
  }

  void guard(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      failures.increment();
      if (e instanceof InterruptedException) {
        // not to be declared in Java, but in other languages
        Thread.currentThread().interrupt();
      }
      Log.thrown(Level.WARNING, "a callback failed", e);
    }
  }
}
