// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Scheduler;
import io.holdfast.Ticker;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Clocks and a timer that move only when a test says so.
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * Holdfast holdfast =
 *     Holdfast.builder().store(new MemoryStore()).ticker(clock).scheduler(clock).build();
 * Hold hold = holdfast.lock("job").acquire();
 * clock.advance(Duration.ofSeconds(10)); // the lease is renewed, on this thread
 * clock.suspend(Duration.ofMinutes(5)); // the machine slept: the hold is lost
 * }</pre>
 *
 * <p>Due tasks run on the thread that moves the clock, one after another, in the order of their times; each of them sees
 * the time for which it was scheduled. A task that is due at once waits for the next move too; {@code
 * advance(Duration.ZERO)} runs it. Thread-safe; one move at a time.
 */
public final class ManualClock implements Ticker, Scheduler {
  private static final long WALL_START_MILLIS = 1_767_225_600_000L; // 2026-01-01T00:00:00Z

  private static final Duration STEP = Duration.ofMillis(100);
  private static final long PAUSE_NANOS = 1_000_000;

  /** So many tasks at one time have no end: each of them schedules another one for at once. */
  private static final int MOST_AT_ONE_TIME = 1_000_000;

  private final ReentrantLock state = new ReentrantLock();
  private final ReentrantLock moving = new ReentrantLock();
  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong((Task task) -> task.dueNanos)
          .thenComparingLong(task -> task.number));
  private final List<Runnable> afterMoves = new CopyOnWriteArrayList<>();
  private long nanos = 1_000_000_000L;
  private long wallAheadNanos;
  private long scheduled;

  /** Makes clocks that stand still: the wall clock at the beginning of 2026. */
  public ManualClock() {}

  @Override
  public long nanos() {
    state.lock();
    try {
      return nanos;
    } finally {
      state.unlock();
    }
  }

  @Override
  public long wallMillis() {
    state.lock();
    try {
      return WALL_START_MILLIS + Math.floorDiv(nanos + wallAheadNanos, 1_000_000L);
    } finally {
      state.unlock();
    }
  }

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    state.lock();
    try {
      Task entry = new Task(task, nanos + Math.max(0, delayNanos), scheduled++);
      tasks.add(entry);
      return () -> cancel(entry);
    } finally {
      state.unlock();
    }
  }

  /**
   * Moves both clocks forward and runs what becomes due on the way, each task at its time.
   *
   * @param by how far; zero runs what is due now
   * @throws IllegalArgumentException if it is negative
   * @throws IllegalStateException if it would never return, since a million tasks became due without any time in between
   */
  public void advance(Duration by) {
    long target = requireForward(by) + nanos();
    move(() -> {
      runUntil(target);
      setNanos(target);
    });
  }

  private void runUntil(long target) {
    long at = nanos();
    int since = 0;
    for (Task task = nextUntil(target); task != null; task = nextUntil(target)) {
      since = task.dueNanos > at ? 0 : since + 1;
      at = Math.max(at, task.dueNanos);
      if (since >= MOST_AT_ONE_TIME) {
        throw new IllegalStateException(
            "time stands still: there is always another task that is due at once");
      }
      task.work.run();
    }
  }

  /**
   * Moves both clocks forward without running anything on the way, then runs all that has become due: a process that was
   * stopped, or a long garbage collection.
   *
   * @param by how long it stood still
   * @throws IllegalArgumentException if it is negative
   */
  public void freeze(Duration by) {
    long target = requireForward(by) + nanos();
    move(() -> setNanos(target));
    advance(Duration.ZERO);
  }

  /**
   * Moves the wall clock alone, and runs what is due: a machine that slept. The monotonic clock stands still meanwhile,
   * as Linux has it, so that tasks come no nearer.
   *
   * @param by how long it slept
   * @throws IllegalArgumentException if it is negative
   */
  public void suspend(Duration by) {
    long ahead = requireForward(by);
    addToWall(ahead);
    advance(Duration.ZERO);
  }

  /**
   * Sets the wall clock forward or back: an operator, or NTP. Runs nothing.
   *
   * @param by how far; negative for back
   */
  public void stepWall(Duration by) {
    addToWall(by.toNanos());
  }

  /**
   * Makes a call that waits for time, and lets time pass until it returns: on another thread, a tenth of a second at a
   * time, as fast as it goes. For calls that wait with a limit, and for all calls on a store that is silent.
   *
   * @param call what waits
   * @param <T> its result
   * @return what the call returns
   * @throws Exception what the call throws
   */
  public <T> T whileTimePasses(Callable<T> call) throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    Thread passes = new Thread(
        () -> {
          while (!done.get()) {
            advance(STEP);
            LockSupport.parkNanos(PAUSE_NANOS);
          }
        },
        "holdfast-test-time");
    passes.setDaemon(true);
    passes.start();
    try {
      return call.call();
    } finally {
      done.set(true);
      Await.until("time stands still again", () -> !passes.isAlive());
    }
  }

  /**
   * Returns how many tasks wait for their time.
   *
   * @return the number of tasks that were neither run nor cancelled
   */
  public int waitingTasks() {
    state.lock();
    try {
      return tasks.size();
    } finally {
      state.unlock();
    }
  }

  /** Adds something to do at the end of every move, on the moving thread. */
  void afterMoves(Runnable work) {
    afterMoves.add(work);
  }

  private void move(Runnable steps) {
    moving.lock();
    try {
      steps.run();
    } finally {
      moving.unlock();
    }
    afterMoves.forEach(Runnable::run);
  }

  private @Nullable Task nextUntil(long target) {
    state.lock();
    try {
      Task first = tasks.peek();
      if (first == null || first.dueNanos > target) {
        return null;
      }
      tasks.remove();
      nanos = Math.max(nanos, first.dueNanos);
      return first;
    } finally {
      state.unlock();
    }
  }

  private void setNanos(long target) {
    state.lock();
    try {
      nanos = Math.max(nanos, target);
    } finally {
      state.unlock();
    }
  }

  private void addToWall(long by) {
    state.lock();
    try {
      wallAheadNanos += by;
    } finally {
      state.unlock();
    }
  }

  private void cancel(Task task) {
    state.lock();
    try {
      tasks.remove(task);
    } finally {
      state.unlock();
    }
  }

  private static long requireForward(Duration by) {
    if (by.isNegative()) {
      throw new IllegalArgumentException(
          "time only moves forward, not by " + DurationText.exact(by));
    }
    return by.toNanos();
  }

  private static final class Task {
    final Runnable work;
    final long dueNanos;
    final long number;

    Task(Runnable work, long dueNanos, long number) {
      this.work = work;
      this.dueNanos = dueNanos;
      this.number = number;
    }
  }
}
