// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** P1: at any instant at most one unexpired hold exists for a name. */
abstract class ExclusionContract extends Contract {
  private static final int CLIENTS = 3;
  private static final int THREADS = 4;
  private static final int ROUNDS = 15;

  /** A lock that one client holds is busy for another. */
  @Test
  void tryAcquire_heldByAnotherClient_isEmpty() throws Exception {
    try (Hold hold = client().lock(name, LONG).acquire()) {
      assertTrue(client().lock(name, LONG).tryAcquire().isEmpty());
      assertTrue(hold.isValid());
    }
  }

  /** Holds are not reentrant: a lock is busy for its own holder too. */
  @Test
  void tryAcquire_heldByThisThread_isEmpty() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    try (Hold hold = lock.acquire()) {
      assertTrue(lock.tryAcquire().isEmpty());
      assertTrue(hold.isValid());
    }
  }

  /** What was released is free for everybody. */
  @Test
  void release_makesTheLockFree() throws Exception {
    Holdfast first = client();
    Holdfast second = client();
    assertTrue(first.lock(name).acquire().release());
    assertTrue(second.lock(name).tryAcquire().orElseThrow().release());
    assertTrue(first.lock(name).tryAcquire().orElseThrow().release());
  }

  /** Threads of several clients are never inside together, and no update of theirs is lost. */
  @Test
  void acquire_byThreadsOfSeveralClients_excludes() {
    assertTrue(contend(LONG), "a use took longer than its hold could");
  }

  /** As above, with short leases: renewals and hand-overs happen in the middle of it. */
  @Test
  void acquire_withShortLeases_excludes() throws Exception {
    Rounds.untilShown(endingRenewed(), this::contend);
  }

  /** Every way to get the lock excludes every other way. */
  @Test
  void allWaysToAcquire_excludeEachOther() {
    Oracle oracle = new Oracle();
    List<Task<?>> tasks = new ArrayList<>();
    for (int c = 0; c < CLIENTS; c++) {
      DistributedLock lock = client().lock(name, LONG);
      tasks.add(spawn("blocking " + c, () -> repeat(() -> use(oracle, lock.acquire()))));
      tasks.add(spawn("timed " + c, () -> repeat(() -> use(oracle, lock.acquire(PLENTY)))));
      tasks.add(spawn(
          "async " + c, () -> repeat(() -> use(oracle, lock.acquireAsync().get()))));
      tasks.add(spawn("trying " + c, () -> repeat(() -> use(oracle, tryUntilFree(lock)))));
      tasks.add(spawn("run " + c, () -> repeat(() -> lock.run(oracle::use))));
      tasks.add(spawn("view " + c, () -> repeat(() -> useView(oracle, lock.asJavaLock()))));
    }
    tasks.forEach(Task::get);
    assertEquals(CLIENTS * 6 * ROUNDS, oracle.count());
  }

  /** A holder that falls silent does not stop the others, and they exclude each other all the same. */
  @Test
  void holdersThatNeverRelease_leaveExclusionIntact() throws Exception {
    Rounds.untilShown(brief(), this::forget);
  }

  /** Lets some holders fall silent; false if a lease ended in the middle of its use, which shows nothing. */
  private boolean forget(LockOptions options) {
    Oracle oracle = new Oracle();
    AtomicBoolean late = new AtomicBoolean();
    List<Hold> forgotten = Collections.synchronizedList(new ArrayList<>());
    List<Task<?>> tasks = new ArrayList<>();
    for (int c = 0; c < CLIENTS; c++) {
      DistributedLock lock = client().lock(name, options);
      tasks.add(spawn("forgetful " + c, () -> {
        for (int round = 0; round < 3; round++) {
          Hold hold = lock.acquire();
          use(oracle, hold, late);
          if (round == 1) {
            forgotten.add(hold);
          } else {
            hold.close();
          }
        }
        return null;
      }));
    }
    if (!isShown(tasks, late)) {
      return false;
    }
    assertEquals(CLIENTS * 3, oracle.count());
    assertEquals(CLIENTS, forgotten.size());
    return true;
  }

  /** Lets all use it; false if a lease ended in the middle of its use, which shows nothing. */
  private boolean contend(LockOptions options) {
    Oracle oracle = new Oracle();
    AtomicBoolean late = new AtomicBoolean();
    List<Task<?>> tasks = new ArrayList<>();
    for (int c = 0; c < CLIENTS; c++) {
      DistributedLock lock = client().lock(name, options);
      for (int t = 0; t < THREADS; t++) {
        tasks.add(spawn(
            c + "/" + t,
            () -> repeat(() -> {
              try (Hold hold = lock.acquire()) {
                use(oracle, hold, late);
              }
            })));
      }
    }
    if (!isShown(tasks, late)) {
      return false;
    }
    assertEquals(CLIENTS * THREADS * ROUNDS, oracle.count());
    return true;
  }

  /** Waits for all; what was seen inside counts unless a use took longer than its hold could. */
  private static boolean isShown(List<Task<?>> tasks, AtomicBoolean late) {
    AssertionError seen = null;
    for (Task<?> task : tasks) {
      try {
        task.get();
      } catch (AssertionError e) {
        if (!(e.getCause() instanceof AssertionError)) {
          // not seen inside: it could not be had, or given back, or did not end
          throw e;
        }
        seen = e;
      }
    }
    if (seen != null && !late.get()) {
      throw seen;
    }
    return !late.get();
  }

  /** Uses the thing, and notes whether that took longer than the hold had left: if so, others may have been at it. */
  private static void use(Oracle oracle, Hold hold, AtomicBoolean late) {
    long began = nanoTime();
    long left = hold.remaining().toNanos();
    try {
      oracle.use(hold);
    } finally {
      if (nanoTime() - began >= left) {
        late.set(true);
      }
    }
  }

  private static void use(Oracle oracle, Hold hold) {
    try (hold) {
      oracle.use(hold);
    }
  }

  private static void useView(Oracle oracle, JavaLock view) {
    view.lock();
    try {
      oracle.use(view.hold());
    } finally {
      view.unlock();
    }
  }

  private static Hold tryUntilFree(DistributedLock lock) {
    Optional<Hold> hold = lock.tryAcquire();
    while (hold.isEmpty()) {
      LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      hold = lock.tryAcquire();
    }
    return hold.get();
  }

  private static boolean repeat(Step step) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      step.run();
    }
    return true;
  }

  /** Something that is done many times. */
  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }
}
