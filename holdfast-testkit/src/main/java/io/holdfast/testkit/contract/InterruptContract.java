// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** P4 for interrupts: who is interrupted holds nothing and waits for nothing, here or in the store. */
abstract class InterruptContract extends Contract {
  /** An interrupt before the call: every blocking call throws, clears the flag, and has taken nothing. */
  @Test
  void interruptedOnEntry_throwsAndTakesNothing() {
    DistributedLock lock = client().lock(name, LONG);
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> lock.acquire().close());
    assertFalse(Thread.currentThread().isInterrupted());
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> lock.acquire(PLENTY).close());
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> lock.tryAcquire(PLENTY).isPresent());
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> lock.run(hold -> {}));
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> lock.call(Hold::token));
    assertFalse(Thread.currentThread().isInterrupted());
    assertFalse(isTaken());
  }

  /** An interrupt during the wait, behind another client: thrown, flag cleared, waiter gone from the store. */
  @Test
  void interruptedWhileWaiting_withdraws() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    try (Hold hold = client().lock(name, LONG).acquire()) {
      Task<Boolean> waiter = spawn("waits", () -> {
            assertThrows(InterruptedException.class, () -> lock.acquire().close());
            return Thread.currentThread().isInterrupted();
          })
          .awaitWaiting();
      waiter.interrupt();
      assertFalse(waiter.get());
      Await.until(
          "no waiter is left in the store",
          () -> inStore().orElseThrow().waiters().known() == 0);
      assertTrue(hold.isValid());
    }
    // its request may have been on the way all that time, and is taken back only when it is answered
    awaitNothingInStore();
  }

  /** One that leaves the middle of the queue does not break it. */
  @Test
  void interruptedInTheQueue_othersAreServed() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold hold = client().lock(name, LONG).acquire();
    Task<Hold> first = spawnAcquire(lock).awaitWaiting();
    Task<Hold> second = spawnAcquire(lock).awaitWaiting();
    Task<Hold> third = spawnAcquire(lock).awaitWaiting();
    second.interrupt();
    second.failure(InterruptedException.class);
    first.interrupt();
    first.failure(InterruptedException.class);
    assertTrue(hold.release());
    assertTrue(third.get().release());
  }

  /** A try does not wait, so it does not stop for an interrupt; the flag stays. */
  @Test
  void tryAcquire_interrupted_triesAndKeepsTheFlag() {
    DistributedLock lock = client().lock(name, LONG);
    Thread.currentThread().interrupt();
    Hold hold = lock.tryAcquire().orElseThrow();
    assertTrue(Thread.currentThread().isInterrupted());
    assertTrue(hold.isValid());
    assertTrue(hold.release());
    assertTrue(Thread.interrupted());
    assertFalse(isTaken());
  }

  /** A release is done although the thread is interrupted, and the flag stays: for quiet closing too. */
  @Test
  void release_interrupted_releasesAndKeepsTheFlag() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold first = lock.acquire();
    Thread.currentThread().interrupt();
    assertTrue(first.release());
    assertTrue(Thread.interrupted());
    assertFalse(isTaken());
    Hold second = lock.acquire();
    Thread.currentThread().interrupt();
    second.close();
    assertTrue(Thread.interrupted());
    assertFalse(isTaken());
  }

  /** Interrupts at any moment: either an exception and nothing held, or a hold. Exclusion as ever. */
  @Test
  void interruptsAtRandom_leaveNothing() {
    Oracle oracle = new Oracle();
    List<Task<Integer>> tasks = new ArrayList<>();
    for (int c = 0; c < 3; c++) {
      Holdfast holdfast = client();
      for (int t = 0; t < 2; t++) {
        tasks.add(
            spawn(c + "/" + t, () -> acquireWhileInterrupted(holdfast.lock(name, LONG), oracle)));
      }
    }
    while (!tasks.stream().allMatch(Task::isDone)) {
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
      Task<Integer> victim = tasks.get(ThreadLocalRandom.current().nextInt(tasks.size()));
      if (!victim.isDone()) {
        victim.interrupt();
      }
    }
    int served = tasks.stream().mapToInt(Task::get).sum();
    assertEquals(served, oracle.count());
    awaitNothingInStore();
  }

  private static int acquireWhileInterrupted(DistributedLock lock, Oracle oracle) {
    int served = 0;
    for (int i = 0; i < 40; i++) {
      try (Hold hold = lock.acquire()) {
        oracle.use(hold);
        served++;
      } catch (InterruptedException e) {
        Thread.onSpinWait(); // the next round begins with a clear flag
      }
    }
    return served;
  }
}
