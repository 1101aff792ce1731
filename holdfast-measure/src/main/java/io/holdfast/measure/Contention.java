// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that all want one lock. Adds up over its runs what they waited and whether they were ever two at once. */
public final class Contention {
  private static final Ticker TICKER = Ticker.system();

  /** A lock, in whatever way it is taken. */
  @FunctionalInterface
  public interface Guard {
    /**
     * Runs something with the lock held.
     *
     * @param inside what to run
     * @throws Exception if the lock could not be taken or not be let go
     */
    void run(Runnable inside) throws Exception;
  }

  private final List<Guard> guards;
  private final Waits waits = new Waits();

  /** Unsynchronised on purpose: loses updates if two threads are inside at once. */
  private long inside;

  private final long[] cycles;

  /**
   * Makes the threads' locks known; nothing runs yet.
   *
   * @param guards one thread for each of these, which are one lock, maybe with different options
   */
  public Contention(List<Guard> guards) {
    this.guards = List.copyOf(guards);
    cycles = new long[guards.size()];
  }

  /**
   * Takes one of our locks, and looks whether it is still held afterwards.
   *
   * @param lock any
   * @return waits as long as it takes
   */
  public static Guard of(DistributedLock lock) {
    return inside -> {
      try (Hold hold = lock.acquire()) {
        inside.run();
        hold.ensureValid();
      }
    };
  }

  /**
   * Takes one of our locks, and does not wait for ever.
   *
   * @param lock any
   * @param patience for how long at most
   * @return ends with the exceptions of {@link DistributedLock#acquire(Duration)}
   */
  public static Guard of(DistributedLock lock, Duration patience) {
    return inside -> {
      try (Hold hold = lock.acquire(patience)) {
        inside.run();
        hold.ensureValid();
      }
    };
  }

  /**
   * Lets all threads take turns for some time; each ends the turn that it has begun.
   *
   * @param time for how long
   * @return cycles per second of all threads together
   * @throws Exception what the first thread that failed has thrown
   */
  public double perSecond(Duration time) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(guards.size());
    try {
      long begin = TICKER.nanos();
      List<Callable<Turns>> tasks = new ArrayList<>();
      for (Guard guard : guards) {
        tasks.add(() -> takeTurns(guard, begin + time.toNanos()));
      }
      long done = 0;
      int thread = 0;
      for (Future<Turns> future : threads.invokeAll(tasks)) {
        Turns turns = get(future);
        done += turns.cycles();
        cycles[thread++] += turns.cycles();
        waits.addAll(turns.waits());
      }
      return done * 1e9 / (TICKER.nanos() - begin);
    } finally {
      threads.shutdownNow();
    }
  }

  /** What a thread has thrown is thrown as it was, so that whoever knows it can say what to do. */
  static <T> T get(Future<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        cause.addSuppressed(e);
        throw cause;
      }
      throw e;
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

  /**
   * Returns how many updates were lost, over all runs.
   *
   * @return zero if the lock excludes
   */
  public long violations() {
    return cycles() - inside;
  }

  /**
   * Returns how often the lock was had, over all runs.
   *
   * @return by all threads together
   */
  public long cycles() {
    return Arrays.stream(cycles).sum();
  }

  /**
   * Returns how often each thread had it, over all runs.
   *
   * @return a number for each
   */
  public long[] cyclesOfEach() {
    return cycles.clone();
  }

  /**
   * Returns how even the threads were.
   *
   * @return what the one with the fewest turns had, in parts of what the one with the most had
   */
  public double leastToMost() {
    return leastToMost(cycles);
  }

  /**
   * Returns the least in parts of the greatest.
   *
   * @param numbers none of them negative
   * @return from 0 to 1
   */
  public static double leastToMost(long[] numbers) {
    long least = Arrays.stream(numbers).min().orElse(0);
    return least / (double) Math.max(1, Arrays.stream(numbers).max().orElse(1));
  }

  /**
   * Returns how long the threads waited, over all runs.
   *
   * @return from asking for the lock to having it
   */
  public Waits waits() {
    return waits;
  }

  private record Turns(long cycles, Waits waits) {}
}
