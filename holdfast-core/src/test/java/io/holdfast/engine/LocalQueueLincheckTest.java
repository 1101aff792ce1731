// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/** The queue of waiting requests, under a lock as in the lane: first come, first served, and whoever leaves is gone. */
@Param(name = "request", gen = IntGen.class, conf = "0:3")
public class LocalQueueLincheckTest {
  private final ReentrantLock lock = new ReentrantLock();
  private final LocalQueue queue = new LocalQueue();
  private final List<Request> requests = new ArrayList<>();

  /** Makes the queue of one invocation, and four requests to put into it. */
  public LocalQueueLincheckTest() {
    for (int i = 0; i < 4; i++) {
      requests.add(new Request(LockOptions.defaults(), Request.Kind.ASYNC, false, false, 0, 0));
    }
  }

  /** Comes to wait; false if it waits already. */
  @Operation
  public boolean come(@Param(name = "request") int request) {
    lock.lock();
    try {
      Request one = requests.get(request);
      if (one.queued) {
        return false;
      }
      queue.add(one);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Gives up; false if it does not wait. */
  @Operation
  public boolean leave(@Param(name = "request") int request) {
    lock.lock();
    try {
      Request one = requests.get(request);
      boolean waited = one.queued;
      queue.remove(one);
      return waited;
    } finally {
      lock.unlock();
    }
  }

  /** The first is served; -1 if nobody waits. */
  @Operation
  public int serve() {
    lock.lock();
    try {
      Request first = queue.first();
      if (first == null) {
        return -1;
      }
      queue.remove(first);
      return requests.indexOf(first);
    } finally {
      lock.unlock();
    }
  }

  /** Who waits, in order. */
  @Operation
  public List<Integer> waiting() {
    lock.lock();
    try {
      return queue.toList().stream().map(requests::indexOf).toList();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void behavesAsAQueue() {
    check(3);
  }

  /** As often as the tier has time for: {@link LincheckAtLengthTest}. */
  static void check(int iterations) {
    new ModelCheckingOptions()
        .iterations(iterations)
        .invocationsPerIteration(200)
        .actorsBefore(0)
        .sequentialSpecification(Model.class)
        .check(LocalQueueLincheckTest.class);
  }

  /** What it should do. */
  public static final class Model {
    private final Deque<Integer> queue = new ArrayDeque<>();

    public boolean come(int request) {
      return !queue.contains(request) && queue.add(request);
    }

    public boolean leave(int request) {
      return queue.remove(request);
    }

    public int serve() {
      return queue.isEmpty() ? -1 : queue.remove();
    }

    public List<Integer> waiting() {
      return List.copyOf(queue);
    }
  }
}
