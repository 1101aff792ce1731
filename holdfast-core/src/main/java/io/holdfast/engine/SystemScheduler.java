// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Scheduler;
import io.holdfast.spi.DaemonThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The default timer: one daemon thread. */
final class SystemScheduler implements Scheduler {
  private final ScheduledThreadPoolExecutor executor;

  SystemScheduler(String clientName) {
    executor = new ScheduledThreadPoolExecutor(
        1, task -> new DaemonThread(task, "holdfast-timer-" + clientName));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    try {
      // a task that fails must not vanish in a future that nobody reads
      ScheduledFuture<?> future =
          executor.schedule(() -> Guard.run(task), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    } catch (RejectedExecutionException e) {
      // closed: nothing is due any more
      return () -> {};
    }
  }

  void close() {
    executor.shutdownNow();
  }
}
