// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that all want one lock. Adds up over its runs what they waited and whether they were ever two at once. */
final class Contention {
  private static final Ticker TICKER = Ticker.system();

  /** A lock, in whatever way it is taken. */
  @FunctionalInterface
  interface Guard {
    /** Runs something with the lock held. */
    void run(Runnable inside) throws Exception;
  }

  private final List<Guard> guards;
  private final Waits waits = new Waits();

  /** Unsynchronised on purpose: loses updates if two threads are inside at once. */
  private long inside;

  private final long[] cycles;

  /** One thread for each of these, which are one lock, maybe with different options. */
  Contention(List<Guard> guards) {
    this.guards = List.copyOf(guards);
    cycles = new long[guards.size()];
  }

  /** Takes one of our locks, and looks whether it is still held afterwards. */
  static Guard of(DistributedLock lock) {
    return inside -> {
      try (Hold hold = lock.acquire()) {
        inside.run();
        hold.ensureValid();
      }
    };
  }

  /** Returns cycles per second of all threads together. */
  double perSecond(Duration time) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(guards.size());
    try {
      long begin = TICKER.nanos();
      List<Callable<Turns>> tasks = new ArrayList<>();
      for (Guard guard : guards) {
        tasks.add(() -> takeTurns(guard, begin + time.toNanos()));
      }
      long done = 0;
      int thread = 0;
      for (Future<Turns> turns : threads.invokeAll(tasks)) {
        done += turns.get().cycles();
        cycles[thread++] += turns.get().cycles();
        waits.addAll(turns.get().waits());
      }
      return done * 1e9 / (TICKER.nanos() - begin);
    } finally {
      threads.shutdownNow();
    }
  }

  private Turns takeTurns(Guard guard, long end) throws Exception {
    Waits own = new Waits();
    long[] before = {TICKER.nanos()};
    Runnable inside = () -> {
      own.add(TICKER.nanos() - before[0]);
      this.inside++;
    };
    long done = 0;
    do {
      guard.run(inside);
      done++;
      before[0] = TICKER.nanos();
    } while (before[0] - end < 0);
    return new Turns(done, own);
  }

  /** How many updates were lost, over all runs: zero if the lock excludes. */
  long violations() {
    return cycles() - inside;
  }

  /** How often the lock was had, over all runs. */
  long cycles() {
    return Arrays.stream(cycles).sum();
  }

  /** How often each thread had it, over all runs. */
  long[] cyclesOfEach() {
    return cycles.clone();
  }

  double leastToMost() {
    return leastToMost(cycles);
  }

  /** Returns the least in parts of the greatest. */
  static double leastToMost(long[] numbers) {
    long least = Arrays.stream(numbers).min().orElse(0);
    return least / (double) Math.max(1, Arrays.stream(numbers).max().orElse(1));
  }

  Waits waits() {
    return waits;
  }

  private record Turns(long cycles, Waits waits) {}
}
