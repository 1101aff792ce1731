// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;

/**
 * Runs users' code on the callback executor: what it throws is caught, logged and counted. By default what depends on the future
 * of an acquisition has threads apart: it may wait for long, even for another lock, and holds up no loss that is to be told.
 */
final class Callbacks {
  private final Executor executor;
  private final Executor dependents;
  private final LongAdder failures = new LongAdder();

  Callbacks(Executor executor, Executor dependents) {
    this.executor = executor;
    this.dependents = dependents;
  }

  /** Tells of a loss or an event; if the executor refuses, on the calling thread, so that nothing is lost. */
  void run(Runnable task) {
    run(executor, task);
  }

  /** Completes a future on which code may depend that takes its time; otherwise as {@link #run(Runnable)}. */
  void complete(Runnable task) {
    run(dependents, task);
  }

  private void run(Executor chosen, Runnable task) {
    Runnable guarded = () -> guard(task);
    try {
      chosen.execute(guarded);
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
