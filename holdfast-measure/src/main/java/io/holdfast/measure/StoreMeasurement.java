// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Measures a store by what programs do with locks: one thread, threads with a lock each, threads that want one lock, two
 * clients that hand one over, and a thread that enters again. All names of locks begin with {@link #PREFIX}, and are the
 * same in every run: nothing piles up. Every lock is free again at the end, also after a failure; a store keeps what it
 * keeps of released locks.
 *
 * <p>Two runs at once on one store would measure each other: whoever starts one holds a lock of its own meanwhile.
 */
public final class StoreMeasurement {
  /** What all names begin with. */
  public static final String PREFIX = "holdfast-bench/";

  /** How many threads there are where there are several. */
  public static final int THREADS = 16;

  private static final int TRIALS = 5;

  /** Workloads, each with a trial to warm up. */
  private static final int TURNS = 5 * (TRIALS + 1);

  /** Far more than 16 threads in turn should ever take: a run ends, whatever the store does. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Longer than the other client needs to ask for the lock. */
  private static final Duration SHORTEST_TURN = Duration.ofMillis(5);

  private static final int BATCH = 1000;

  private final Holdfast first;
  private final Holdfast second;
  private final Duration trial;
  private final Consumer<String> progress;

  /**
   * Prepares; nothing is measured yet.
   *
   * @param first a client
   * @param second another one, of the same store
   * @param time how long all of it should take, about; a second at least
   * @param progress is told what is done next
   */
  public StoreMeasurement(
      Holdfast first, Holdfast second, Duration time, Consumer<String> progress) {
    if (time.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException(
          "a measurement takes a second at least, not " + DurationText.exact(time));
    }
    this.first = first;
    this.second = second;
    this.trial = time.dividedBy(TURNS);
    this.progress = progress;
  }

  /**
   * Measures. Takes about the time that was asked for, or longer where a cycle is longer than a trial.
   *
   * @return a result for each workload
   * @throws InterruptedException if the thread was interrupted; all locks are let go
   * @throws Exception what the store's locks have thrown
   */
  public List<Result> run() throws Exception {
    Result alone = threads("one thread, a free lock", 1, "alone");
    List<Result> results = new ArrayList<>(List.of(
        alone,
        threads(THREADS + " threads, " + THREADS + " locks", THREADS, "own-%02d"),
        threads(THREADS + " threads, one lock", THREADS, "shared")));
    results.add(handOver(alone));
    results.add(reentrant());
    return results;
  }

  /** Threads of one client; those that have a lock each cannot be two at once. */
  private Result threads(String workload, int threads, String name) throws Exception {
    boolean contended = threads > 1 && !name.contains("%");
    List<Contention.Guard> guards = IntStream.range(0, threads)
        .mapToObj(i -> Contention.of(first.lock(PREFIX + name.replace("%02d", "" + i)), PATIENCE))
        .toList();
    progress.accept(workload);
    new Contention(guards).perSecond(trial);
    Contention contention = new Contention(guards);
    double[] rates = new double[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
      rates[i] = contention.perSecond(trial);
    }
    return new Result(
        workload,
        Optional.of(new Samples(rates)),
        contention.waits(),
        contention.cycles(),
        contended ? OptionalLong.of(contention.violations()) : OptionalLong.empty());
  }

  private Result handOver(Result alone) throws Exception {
    String workload = "hand-over between two clients";
    progress.accept(workload);
    // twice what a lock costs that is free: the other one waits by then
    long usual = (long) (4e6 * alone.millis(0.5).orElse(0));
    Duration turn = Collections.max(List.of(SHORTEST_TURN, Duration.ofNanos(usual)));
    Waits waits = new Waits();
    long cycles = 0;
    long violations = 0;
    for (int i = -1; i < TRIALS; i++) {
      List<List<HandOver.Turn>> turns = exchange(turn);
      violations += HandOver.judge(turns, i < 0 ? new Waits() : waits);
      if (i >= 0) {
        cycles += turns.stream().mapToLong(List::size).sum();
      }
    }
    return new Result(workload, Optional.empty(), waits, cycles, OptionalLong.of(violations));
  }

  private List<List<HandOver.Turn>> exchange(Duration turn) throws Exception {
    HandOver.Count count = new HandOver.Count() {
      private final AtomicLong turns = new AtomicLong();

      @Override
      public void increment() {
        turns.incrementAndGet();
      }

      @Override
      public long get() {
        return turns.get();
      }
    };
    List<Callable<List<HandOver.Turn>>> tasks = new ArrayList<>();
    for (Holdfast client : List.of(first, second)) {
      Contention.Guard lock = Contention.of(client.lock(PREFIX + "handed-over"), PATIENCE);
      tasks.add(() -> HandOver.take(lock, count, trial, turn));
    }
    ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
    try {
      List<List<HandOver.Turn>> turns = new ArrayList<>();
      for (Future<List<HandOver.Turn>> each : threads.invokeAll(tasks)) {
        turns.add(Contention.get(each));
      }
      return turns;
    } finally {
      threads.shutdownNow();
    }
  }

  private Result reentrant() throws Exception {
    String workload = "entering again";
    progress.accept(workload);
    JavaLock lock = first.lock(PREFIX + "reentrant").asJavaLock();
    double[] rates = new double[TRIALS];
    lock.lockInterruptibly();
    try {
      Loop.perSecond(trial, BATCH, () -> enterAgain(lock));
      for (int i = 0; i < TRIALS; i++) {
        rates[i] = Loop.perSecond(trial, BATCH, () -> enterAgain(lock));
      }
      lock.hold().ensureValid();
    } finally {
      lock.unlock();
    }
    return new Result(
        workload, Optional.of(new Samples(rates)), new Waits(), 1, OptionalLong.empty());
  }

  /** Nothing between the two can fail, because there is nothing. */
  @SuppressWarnings("LockNotBeforeTry")
  private static void enterAgain(JavaLock lock) {
    lock.lock();
    lock.unlock();
  }
}
