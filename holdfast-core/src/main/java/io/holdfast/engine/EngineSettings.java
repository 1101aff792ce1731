// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What an engine is made of.
 *
 * @param trace the simulator's eye; null in production
 * @param own what was made for this engine alone, to be closed with it
 */
record EngineSettings(
    LockStore store,
    LockOptions defaultOptions,
    String clientId,
    String clientName,
    String host,
    long pid,
    Duration requestTimeout,
    Duration storeRetryFor,
    Callbacks callbacks,
    List<LockListener> listeners,
    Ticker ticker,
    Scheduler scheduler,
    RandomGenerator random,
    @Nullable EngineTrace trace,
    List<Runnable> own) {

  StoreRuntime runtime() {
    return new StoreRuntime(
        clientId, ticker, scheduler, random, requestTimeout, Patience::lastsForARequest);
  }

  Holder holder(Request asking) {
    return new Holder(clientName, host, pid, asking.threadName, asking.options.note());
  }

  void closeOwn() {
    own.forEach(Runnable::run);
  }
}
