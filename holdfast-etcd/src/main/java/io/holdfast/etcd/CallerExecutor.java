// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.spi.DaemonThread;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs what jetcd hands over on the calling thread. On a pool, a request would wake one thread to be sent, before its answer
 * wakes the caller.
 *
 * <p>A task that is handed over during {@link #ask} runs on that thread, and puts the request into the connection's queue.
 * Any other task, such as a request that jetcd repeats after a pause, runs on the pool.
 *
 * <p>No task is rejected after {@link #shutdown()}: jetcd would not report that it could not repeat a request. The task runs
 * on the thread that hands it over, and jetcd's closed client fails at once.
 */
final class CallerExecutor extends AbstractExecutorService {
  private static final long IDLE_SECONDS = 10;

  private final ThreadPoolExecutor pool = new ThreadPoolExecutor(
      0,
      Integer.MAX_VALUE,
      IDLE_SECONDS,
      TimeUnit.SECONDS,
      new SynchronousQueue<>(),
      task -> new DaemonThread(task, "holdfast-etcd"),
      (task, closed) -> task.run());

  /** True during {@link #ask} on this thread. */
  private final ThreadLocal<Boolean> asking = new ThreadLocal<>();

  /**
   * Sends a request. Tasks that it hands over run on the calling thread.
   *
   * @return what the question returns
   * @throws RuntimeException if the question throws it
   */
  <T> T ask(Supplier<T> question) {
    asking.set(true);
    try {
      return question.get();
    } finally {
      asking.remove();
    }
  }

  @Override
  public void execute(Runnable task) {
    if (asking.get() == null) {
      pool.execute(task);
    } else {
      task.run();
    }
  }

  @Override
  public void shutdown() {
    pool.shutdown();
  }

  @Override
  public List<Runnable> shutdownNow() {
    return pool.shutdownNow();
  }

  @Override
  public boolean isShutdown() {
    return pool.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return pool.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return pool.awaitTermination(timeout, unit);
  }
}
