// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Runs callbacks on threads of its own, and can tell when they are done. */
final class CallbackQueue implements Executor, AutoCloseable {
  private static final long SETTLE_NANOS = Duration.ofSeconds(1).toNanos();

  private final AtomicInteger running = new AtomicInteger();
  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
    Thread thread = new Thread(task, "holdfast-test-callback");
    thread.setDaemon(true);
    return thread;
  });

  @Override
  public void execute(Runnable task) {
    running.incrementAndGet();
    threads.execute(() -> {
      inside.set(true);
      try {
        task.run();
      } finally {
        running.decrementAndGet();
      }
    });
  }

  /** Waits until nothing runs; not for ever, as a callback may wait for the test. */
  void settle() {
    if (inside.get()) {
      return;
    }
    long begin = Ticker.system().nanos();
    while (running.get() > 0 && Ticker.system().nanos() - begin < SETTLE_NANOS) {
      LockSupport.parkNanos(50_000);
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
