// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** P4 for futures: whoever completes one withdraws the claim, and a grant that comes later is given back. */
abstract class AsyncContract extends Contract {
  /** A free lock, a busy one, one that becomes free: the four calls. */
  @Test
  void futures_completeAsTheBlockingCallsReturn() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    DistributedLock other = client().lock(name, LONG);
    assertTrue(Await.value(lock.acquireAsync()).release());
    assertTrue(Await.value(lock.acquireAsync(Duration.ZERO)).release());
    assertTrue(Await.value(lock.tryAcquireAsync()).orElseThrow().release());
    Hold hold = Await.value(lock.tryAcquireAsync(PLENTY)).orElseThrow();
    assertTrue(Await.value(other.tryAcquireAsync()).isEmpty());
    assertTrue(Await.value(other.tryAcquireAsync(Duration.ofMillis(50))).isEmpty());
    assertInstanceOf(
        AcquireTimeoutException.class, Await.failure(other.acquireAsync(Duration.ofMillis(50))));
    assertInstanceOf(
        AcquireTimeoutException.class, Await.failure(other.acquireAsync(Duration.ZERO)));
    CompletableFuture<Hold> first = other.acquireAsync();
    CompletableFuture<Optional<Hold>> second = other.tryAcquireAsync(PLENTY);
    assertFalse(first.isDone());
    assertTrue(hold.release());
    assertTrue(Await.value(first).release());
    assertTrue(Await.value(second).orElseThrow().release());
  }

  /** Dependents run on the callback executor, whoever released the lock. */
  @Test
  void dependents_runOnTheCallbackExecutor() throws Exception {
    Holdfast holdfast = client(builder ->
        builder.callbackExecutor(task -> new Thread(task, "callbacks-of-the-test").start()));
    Hold hold = client().lock(name, LONG).acquire();
    CompletableFuture<String> after = holdfast.lock(name, LONG).acquireAsync().thenApply(next -> {
      next.close();
      return Thread.currentThread().getName();
    });
    assertTrue(hold.release());
    assertEquals("callbacks-of-the-test", Await.value(after));
  }

  /** A dependent that blocks does not keep others from being served. */
  @Test
  void dependentThatBlocks_holdsUpNobody() throws Exception {
    Holdfast holdfast = client();
    Hold hold = holdfast.lock(name, LONG).acquire();
    CompletableFuture<Boolean> gate = new CompletableFuture<>();
    CompletableFuture<Boolean> blocked = holdfast
        .lock(name, LONG)
        .acquireAsync()
        .thenApply(next -> {
          gate.join();
          return next.release();
        });
    assertTrue(hold.release());
    try (Hold other = Await.value(holdfast.lock(name + "-other", briefRenewed()).acquireAsync())) {
      assertTrue(other.isValid());
    }
    assertTrue(gate.complete(true));
    assertTrue(Await.value(blocked));
  }

  /** Cancelled. */
  @Test
  void cancel_withdraws() throws Exception {
    completedByTheCaller(future -> assertTrue(future.cancel(false)));
  }

  /** Completed by the caller. */
  @Test
  void completeExceptionally_withdraws() throws Exception {
    completedByTheCaller(
        future -> assertTrue(future.completeExceptionally(new IllegalStateException("enough"))));
  }

  /** Completed with a time-out of the future's own. */
  @Test
  void orTimeout_withdraws() throws Exception {
    completedByTheCaller(future -> assertInstanceOf(
        TimeoutException.class, Await.failure(future.orTimeout(20, TimeUnit.MILLISECONDS))));
  }

  /** Completed with a value of somebody else. */
  @Test
  void completeOnTimeout_withdraws() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold hold = client().lock(name, LONG).acquire();
    CompletableFuture<Optional<Hold>> future = lock.tryAcquireAsync(PLENTY);
    assertTrue(Await.value(future.completeOnTimeout(Optional.empty(), 20, TimeUnit.MILLISECONDS))
        .isEmpty());
    Await.until("no waiter is left", () -> inStore().orElseThrow().waiters().known() == 0);
    assertTrue(hold.release());
    awaitNothingInStore();
  }

  /** Completing what was derived from the future does not reach it. */
  @Test
  void cancel_ofADerivedFuture_withdrawsNothing() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold hold = client().lock(name, LONG).acquire();
    CompletableFuture<Hold> future = lock.acquireAsync();
    assertTrue(future.thenApply(Hold::token).cancel(true));
    assertTrue(hold.release());
    assertTrue(Await.value(future).release());
  }

  /** The grant was on its way when the caller gave up: it is given back at once, not after a lease. */
  @Test
  void cancel_whileTheGrantIsOnItsWay_givesItBack() throws Exception {
    for (boolean reply : new boolean[] {false, true}) {
      Faulty faulty = faulty(builder -> builder.requestTimeout(Duration.ofSeconds(5)));
      if (reply) {
        faulty.faults().on(Verb.ATTEMPT).once().holdBackReply();
      } else {
        faulty.faults().on(Verb.ATTEMPT).once().holdBack();
      }
      CompletableFuture<Hold> future = faulty.lock(name, LONG).acquireAsync();
      Await.until("the request is on its way", () -> faulty.faults().heldBack() == 1);
      assertTrue(future.cancel(true));
      faulty.faults().letThrough();
      awaitNothingInStore();
      try (Hold next = client().lock(name, LONG).acquire(PLENTY)) {
        assertTrue(next.isValid());
      }
    }
  }

  /** Cancelled at any moment: nothing is left, and the rest goes on. */
  @Test
  void cancelAtRandom_leavesNothing() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    DistributedLock other = client().lock(name, LONG);
    for (int i = 0; i < 60; i++) {
      Hold hold = i % 3 == 0 ? lock.acquire() : other.acquire();
      CompletableFuture<Hold> first = lock.acquireAsync();
      CompletableFuture<Hold> second = lock.acquireAsync();
      Task<Boolean> releases = spawn("releases", hold::release);
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(300_000));
      if (!first.cancel(true)) {
        first.join().close();
      }
      assertTrue(releases.get());
      assertTrue(Await.value(second).release());
    }
    awaitNothingInStore();
  }

  /** A bad moment to ask: the future fails, the call does not throw. */
  @Test
  void closedClient_failsTheFuture() {
    Holdfast holdfast = client();
    DistributedLock lock = holdfast.lock(name, LONG);
    holdfast.close();
    assertInstanceOf(IllegalStateException.class, Await.failure(lock.acquireAsync()));
    assertInstanceOf(IllegalStateException.class, Await.failure(lock.acquireAsync(PLENTY)));
    assertInstanceOf(IllegalStateException.class, Await.failure(lock.tryAcquireAsync()));
    assertInstanceOf(IllegalStateException.class, Await.failure(lock.tryAcquireAsync(PLENTY)));
  }

  private void completedByTheCaller(Consumer<CompletableFuture<Hold>> completion) throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold hold = client().lock(name, LONG).acquire();
    CompletableFuture<Hold> future = lock.acquireAsync();
    CompletableFuture<Hold> behind = lock.acquireAsync();
    completion.accept(future);
    assertTrue(behind.cancel(false));
    Await.until("no waiter is left", () -> inStore().orElseThrow().waiters().known() == 0);
    assertTrue(hold.release());
    // not a try: an attempt that was under way when it was withdrawn may be granted for a moment, and is then taken back
    assertTrue(lock.acquire(PLENTY).release());
    awaitNothingInStore();
  }
}
