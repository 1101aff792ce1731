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
 * Lets the thread that asks for something send the request. jetcd hands each request to an executor, so that a thread that
 * waits for the answer has to be woken twice, and another one in between.
 *
 * <p>What is handed over while a thread {@linkplain #ask asks} runs on that thread, and puts the request into the connection's
 * queue. All else, as what jetcd repeats after a pause, runs on threads of the pool.
 *
 * <p>Nothing is refused after {@link #shutdown()}: jetcd would not tell that it could not repeat a request. It does so on the
 * thread that hands it over, and its closed client fails at once.
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

  /** Set while this thread asks. */
  private final ThreadLocal<Boolean> asking = new ThreadLocal<>();

  /** Asks: what the question hands over, this thread runs. */
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
