// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** P4 for forgetful programs: a hold that nobody can release any more is released, and reported. */
abstract class AbandonedHoldContract extends Contract {
  private static final long COLLECT_EVERY_NANOS = 500_000_000;

  /** The lock is free long before a renewed lease would have ended, and listeners know whose it was. */
  @Test
  @Warns("garbage-collected")
  void droppedHold_isReleasedAndReported() throws Exception {
    Events events = new Events();
    Holdfast holdfast = client(builder -> builder.listener(events));
    long token = acquireAndForget(holdfast);
    awaitCollected(() -> !isTaken());
    LockEvent.Released released = events.await(LockEvent.Released.class, 1).get(0);
    assertTrue(released.abandoned());
    assertEquals(token, released.token());
  }

  /** A caller still waits to hear of a loss: that does not keep a hold whose handle is gone. */
  @Test
  @Warns("garbage-collected")
  void droppedHold_isReleasedThoughItsLossIsAwaited() throws Exception {
    Holdfast holdfast = client();
    CompletableFuture<?> lost = acquireAndKeepItsLoss(holdfast);
    awaitCollected(() -> !isTaken());
    assertFalse(lost.isDone());
  }

  /** A lease that is not renewed ends by itself; when its hold was dropped, it is released before. */
  @Test
  @Warns("garbage-collected")
  void droppedHold_ofAFixedLease_isReleased() throws Exception {
    Holdfast holdfast = client();
    LockOptions fixed =
        LockOptions.builder().leaseFor(Duration.ofMinutes(10)).renew(false).build();
    assertTrue(acquireAndForget(holdfast, name, fixed) > 0);
    awaitCollected(() -> !isTaken());
  }

  /** A waiter of the same client gets the lock that was forgotten. */
  @Test
  @Warns("garbage-collected")
  void droppedHold_wakesALocalWaiter() throws Exception {
    Holdfast holdfast = client();
    long token = acquireAndForget(holdfast);
    CompletableFuture<Hold> waiter = holdfast.lock(name, leaseToDrop()).acquireAsync();
    awaitCollected(waiter::isDone);
    Hold hold = waiter.join();
    assertTrue(hold.token() > token);
    assertTrue(hold.release());
  }

  /** A hold that somebody still has is left alone. */
  @Test
  @Warns("garbage-collected")
  void reachableHold_isKept() throws Exception {
    Holdfast holdfast = client();
    Hold hold = holdfast.lock(name, leaseToDrop()).acquire();
    try {
      acquireAndForget(holdfast, name + "-forgotten");
      awaitCollected(
          () -> inStore(name + "-forgotten").filter(LockInfo::isTaken).isEmpty());
      assertTrue(isTaken());
      assertTrue(hold.release());
    } finally {
      Reference.reachabilityFence(hold);
    }
  }

  /** A future that nobody looks at: its hold is found too. */
  @Test
  @Warns("garbage-collected")
  void droppedFuture_isReleased() throws Exception {
    Events events = new Events();
    Holdfast holdfast = client(builder -> builder.listener(events));
    acquireAsyncAndForget(holdfast);
    events.await(LockEvent.Acquired.class, 1);
    awaitCollected(() -> !isTaken());
  }

  /** A renewal notices the drop, so it should come soon; but the lease must not end by itself before. */
  private LockOptions leaseToDrop() {
    return LockOptions.builder()
        .leaseFor(longer(briefLease().multipliedBy(8), briefRenewed().leaseFor()))
        .build();
  }

  private long acquireAndForget(Holdfast holdfast) throws InterruptedException {
    return acquireAndForget(holdfast, name);
  }

  private long acquireAndForget(Holdfast holdfast, String lockName) throws InterruptedException {
    return acquireAndForget(holdfast, lockName, leaseToDrop());
  }

  /**
   * That the lock was taken is seen while the hold is still reachable: a test beside this one asks
   * for a collection at any time, and the hold may be found right after it was forgotten.
   */
  private long acquireAndForget(Holdfast holdfast, String lockName, LockOptions options)
      throws InterruptedException {
    Hold hold = holdfast.lock(lockName, options).acquire();
    try {
      assertTrue(inStore(lockName).filter(LockInfo::isTaken).isPresent());
      return hold.token();
    } finally {
      Reference.reachabilityFence(hold);
    }
  }

  private CompletableFuture<?> acquireAndKeepItsLoss(Holdfast holdfast)
      throws InterruptedException {
    Hold hold = holdfast.lock(name, leaseToDrop()).acquire();
    try {
      assertTrue(isTaken());
      return hold.lost();
    } finally {
      Reference.reachabilityFence(hold);
    }
  }

  private void acquireAsyncAndForget(Holdfast holdfast) {
    CompletableFuture<Hold> unused = holdfast.lock(name, leaseToDrop()).acquireAsync();
    assertFalse(unused.isCancelled());
  }

  /** A collection stops all threads of this JVM, those of other tests too: this asks for one less often than it looks. */
  private static void awaitCollected(BooleanSupplier condition) {
    AtomicLong next = new AtomicLong(nanoTime());
    Await.until("the garbage collector found it", () -> {
      if (nanoTime() - next.get() >= 0) {
        System.gc();
        next.set(nanoTime() + COLLECT_EVERY_NANOS);
      }
      return condition.getAsBoolean();
    });
  }
}
