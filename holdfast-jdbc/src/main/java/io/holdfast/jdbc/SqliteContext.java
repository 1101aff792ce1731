// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.DaemonThread;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * What all parts of a started store share.
 *
 * @param options where the file is
 * @param store its address for people
 * @param runtime what the engine lent
 * @param events whom to tell
 * @param liveness detects clients that have died
 */
record SqliteContext(
    SqliteOptions options,
    String store,
    StoreRuntime runtime,
    StoreEvents events,
    SqliteLiveness liveness) {
  private static final long IDLE_SECONDS = 10;

  SqliteContext(SqliteOptions options, String store, StoreRuntime runtime, StoreEvents events) {
    this(options, store, runtime, events, new SqliteLiveness(options, store, runtime.ticker()));
  }

  Moment now() {
    return runtime.ticker().now();
  }

  String client() {
    return runtime.client();
  }

  /** Store time is the wall clock of this machine, which all users of the file share. */
  static long micros(Moment moment) {
    return moment.wallMillis() * 1000;
  }

  /** A generator for one thread. To be called on the thread that starts the store: the engine's own may not be shared. */
  SplittableRandom split() {
    return new SplittableRandom(runtime.random().nextLong());
  }

  /** One daemon thread that exists while it has something to do. */
  static ThreadPoolExecutor thread(String role) {
    ThreadPoolExecutor executor = new ThreadPoolExecutor(
        1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
          return new DaemonThread(task, "holdfast-sqlite-" + role);
        });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
