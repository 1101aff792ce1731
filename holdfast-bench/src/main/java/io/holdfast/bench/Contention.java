// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that all want one lock. Adds up over its runs what they waited and whether they were ever two at once. */
final class Contention {
  private static final Ticker TICKER = Ticker.system();

  private final List<DistributedLock> locks;
  private final Waits waits = new Waits();

  /** Unsynchronised on purpose: loses updates if two threads are inside at once. */
  private long inside;

  private long cycles;

  /** One thread for each of these, which are one lock, maybe with different options. */
  Contention(List<DistributedLock> locks) {
    this.locks = locks;
  }

  /** Returns cycles per second of all threads together. */
  double perSecond(Duration time) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(locks.size());
    try {
      long begin = TICKER.nanos();
      List<Callable<Turns>> tasks = new ArrayList<>();
      for (DistributedLock lock : locks) {
        tasks.add(() -> takeTurns(lock, begin + time.toNanos()));
      }
      long done = 0;
      for (Future<Turns> turns : threads.invokeAll(tasks)) {
        done += turns.get().cycles();
        waits.addAll(turns.get().waits());
      }
      cycles += done;
      return done * 1e9 / (TICKER.nanos() - begin);
    } finally {
      threads.shutdownNow();
    }
  }

  private Turns takeTurns(DistributedLock lock, long end) throws InterruptedException {
    Waits own = new Waits();
    long done = 0;
    long before = TICKER.nanos();
    do {
      try (Hold hold = lock.acquire()) {
        own.add(TICKER.nanos() - before);
        hold.ensureValid();
        inside++;
        done++;
      }
      before = TICKER.nanos();
    } while (before - end < 0);
    return new Turns(done, own);
  }

  /** How many updates were lost, over all runs: zero if the lock excludes. */
  long violations() {
    return cycles - inside;
  }

  Waits waits() {
    return waits;
  }

  private record Turns(long cycles, Waits waits) {}
}
