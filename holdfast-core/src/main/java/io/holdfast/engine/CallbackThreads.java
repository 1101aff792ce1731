// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.DaemonThread;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A default executor of callbacks: daemon threads, made when needed, gone when idle for ten seconds. */
final class CallbackThreads implements Executor {
  /** More callbacks than this at once wait: an outage may lose very many holds together. */
  private static final int LIMIT = 64;

  private final ThreadPoolExecutor pool;

  /**
   * Makes one without a thread.
   *
   * @param what the threads are for, in their names
   */
  CallbackThreads(String what, String clientName) {
    AtomicInteger count = new AtomicInteger();
    pool = new ThreadPoolExecutor(
        LIMIT, LIMIT, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
          String name = "holdfast-" + what + "-" + clientName + "-" + count.incrementAndGet();
          return new DaemonThread(task, name);
        });
    pool.allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable task) {
    pool.execute(task);
  }

  void close() {
    pool.shutdown();
  }
}
