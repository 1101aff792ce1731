// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What JMH runs, in a process of its own; {@link Allocations} says how. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Allocating {
  /** The address of a Redis server. */
  static final String REDIS = "holdfast.guard.redis";

  private static final int CYCLES = 500;

  private final Holdfast memory = Holdfast.connect("memory:");
  private final DistributedLock free = memory.lock("free");
  private final JavaLock held = memory.lock("held").asJavaLock();
  private final DistributedLock passed = memory.lock("passed");
  private Holdfast redis = memory;
  private DistributedLock there = free;
  private Hold hold = passed.tryAcquire().orElseThrow();

  /** For JMH. */
  public Allocating() {}

  /** Takes what is measured with a lock in hand. */
  @Setup
  public void begin() {
    boolean isHeld = held.tryLock();
    if (!isHeld) {
      throw new IllegalStateException("no other thread has it");
    }
    String uri = System.getProperty(REDIS, "");
    if (!uri.isEmpty()) {
      redis = Holdfast.connect(uri);
      there = redis.lock("free");
    }
  }

  /** Lets go of all. */
  @TearDown
  public void end() {
    redis.close();
    memory.close();
  }

  /** Acquire and release, uncontended, on a map. */
  @Benchmark
  public boolean memoryCycle() throws InterruptedException {
    return free.acquire().release();
  }

  /** As a {@code Lock}, by who holds it. */
  @Benchmark
  public boolean reentry() {
    held.lock();
    try {
      return true;
    } finally {
      held.unlock();
    }
  }

  /** A waiter of the same client gets the lock at the release. */
  @Benchmark
  public Hold handOver() {
    CompletableFuture<Hold> next = passed.acquireAsync();
    boolean ours = hold.release();
    if (!ours) {
      throw new IllegalStateException("the hold was not ours any more");
    }
    hold = next.join();
    return hold;
  }

  /**
   * Acquire and release, uncontended, on a server; so many times at least, however slow the machine: what is made once in an
   * iteration, whoever makes it, is divided by them.
   */
  @Benchmark
  @OperationsPerInvocation(CYCLES)
  public boolean redisCycle() throws InterruptedException {
    boolean ours = true;
    for (int i = 0; i < CYCLES; i++) {
      ours &= there.acquire().release();
    }
    return ours;
  }
}
