// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/**
 * The lock from hand to hand in one process: one holder, waiters served in their order, one that cancels is skipped,
 * tokens that grow.
 */
public class HandOverLincheckTest {
  private final EngineLock lock = LincheckLocks.fresh(this::cleanUp);
  private final AtomicLong lastToken = new AtomicLong();
  private final AtomicReferenceArray<@Nullable Request> requests = new AtomicReferenceArray<>(8);

  @AfterAll
  static void closeClient() {
    LincheckLocks.close();
  }

  /** A thread asks for the lock; false if it has it or waits already. */
  @Operation
  public boolean ask(@Param(gen = ThreadIdGen.class) int thread) {
    if (requests.get(thread) != null) {
      return false;
    }
    // as acquireAsync() does it, but without the executor that tells the caller
    Request request = new Request(lock.options, Request.Kind.ASYNC, false, false, 0, 0);
    requests.set(thread, request);
    lock.lane.submit(request);
    return true;
  }

  /** Whether a thread has the lock. */
  @Operation
  public boolean has(@Param(gen = ThreadIdGen.class) int thread) {
    Request request = requests.get(thread);
    return request != null && holdOf(request) != null;
  }

  /** A thread that has the lock gives it back; says whether it had it. */
  @Operation
  public boolean release(@Param(gen = ThreadIdGen.class) int thread) {
    Request request = requests.get(thread);
    EngineHold hold = request == null ? null : holdOf(request);
    if (hold == null) {
      return false;
    }
    requests.set(thread, null);
    return hold.release();
  }

  /** A thread that waits gives up; says whether it did, rather than being granted the lock. */
  @Operation
  public boolean giveUp(@Param(gen = ThreadIdGen.class) int thread) {
    Request request = requests.get(thread);
    Lane lane = request == null ? null : request.lane;
    if (request == null || lane == null || holdOf(request) != null) {
      return false;
    }
    if (lane.withdraw(request, new CancellationException())) {
      requests.set(thread, null);
      return true;
    }
    return false;
  }

  private void cleanUp() {
    for (int thread = 0; thread < requests.length(); thread++) {
      giveUp(thread);
      release(thread);
    }
  }

  private @Nullable EngineHold holdOf(Request request) {
    if (request.outcome() instanceof EngineHold hold) {
      checkToken(hold);
      return hold;
    }
    return null;
  }

  /** Whoever sees its own hold has the lock, so that nobody else writes here. */
  private void checkToken(EngineHold hold) {
    long last = lastToken.get();
    if (hold.token() < last) {
      throw new AssertionError("token " + hold.token() + " after " + last);
    }
    lastToken.set(hold.token());
  }

  @Test
  void behavesAsAQueueForOneLock() {
    check(15);
  }

  /** As often as the tier has time for: {@link LincheckAtLengthTest}. */
  static void check(int iterations) {
    new StressOptions()
        .iterations(iterations)
        .invocationsPerIteration(1_000)
        .threads(3)
        .actorsPerThread(4)
        .actorsBefore(0)
        .actorsAfter(0)
        .sequentialSpecification(Model.class)
        .check(HandOverLincheckTest.class);
  }

  /** What it should do: the first of the queue has the lock. */
  public static final class Model {
    private final Deque<Integer> queue = new ArrayDeque<>();

    public boolean ask(int thread) {
      return !queue.contains(thread) && queue.add(thread);
    }

    public boolean has(int thread) {
      Integer first = queue.peek();
      return first != null && first == thread;
    }

    public boolean release(int thread) {
      return has(thread) && queue.remove(thread);
    }

    public boolean giveUp(int thread) {
      return !has(thread) && queue.remove(thread);
    }
  }
}
