// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.DaemonThread;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The default callback executor: daemon threads, made when needed, gone when idle for ten seconds. */
final class CallbackThreads implements Executor {
  /** More callbacks than this at once wait: an outage may lose very many holds together. */
  private static final int LIMIT = 64;

  private final ThreadPoolExecutor pool;

  CallbackThreads(String clientName) {
    AtomicInteger count = new AtomicInteger();
    pool = new ThreadPoolExecutor(
        LIMIT, LIMIT, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
          String name = "holdfast-callback-" + clientName + "-" + count.incrementAndGet();
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
