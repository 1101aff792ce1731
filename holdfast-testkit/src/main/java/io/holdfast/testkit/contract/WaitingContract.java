// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** P5 and P7: waiters are woken, in time; and an empty answer means only that somebody else has the lock. */
abstract class WaitingContract extends Contract {
  /** What a busy machine may add to the store's bound. */
  private static final Duration SLACK = Await.PATIENCE.dividedBy(4);

  /** A waiter of another client gets a released lock within the store's bound, never after a lease. */
  @Test
  void release_wakesAWaiterOfAnotherClient() throws Exception {
    Holdfast first = client();
    Holdfast second = client();
    Duration bound = second.guarantees().wakesWithin().plus(SLACK);
    for (int i = 0; i < 5; i++) {
      Hold hold = first.lock(name, LONG).acquire();
      Task<Hold> waiter = spawnAcquire(second.lock(name, LONG)).awaitWaiting();
      long released = nanoTime();
      assertTrue(hold.release());
      assertTrue(waiter.get().release());
      Duration took = Duration.ofNanos(nanoTime() - released);
      assertTrue(
          took.compareTo(bound) < 0,
          () -> "took " + DurationText.of(took) + ", bound " + DurationText.of(bound));
    }
  }

  /** A waiter gets an expired lock within the lease and the store's bound. */
  @Test
  void expiry_wakesAWaiter() throws Exception {
    Hold hold = client().lock(name, brief()).acquire();
    Holdfast second = client();
    long began = nanoTime();
    try (Hold next = second.lock(name, LONG).acquire()) {
      Duration took = Duration.ofNanos(nanoTime() - began);
      Duration bound = briefLease().plus(second.guarantees().wakesWithin()).plus(SLACK);
      assertTrue(
          took.compareTo(bound) < 0,
          () -> "took " + DurationText.of(took) + ", bound " + DurationText.of(bound));
      assertTrue(next.token() > hold.token());
    }
  }

  /** Waiters of one client are served in the order in which they came. */
  @Test
  void waitersOfOneClient_areServedInOrder() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold hold = lock.acquire();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      waiters.add(lock.acquireAsync());
    }
    assertTrue(hold.release());
    for (int i = 0; i < waiters.size(); i++) {
      Hold next = Await.value(waiters.get(i));
      for (CompletableFuture<Hold> later : waiters.subList(i + 1, waiters.size())) {
        assertFalse(later.isDone());
      }
      assertTrue(next.release());
    }
  }

  /** Many waiters, several clients: each is served once, none is forgotten. */
  @Test
  void manyWaiters_areAllServed() throws Exception {
    List<Holdfast> clients = List.of(client(), client(), client());
    Hold hold = clients.get(0).lock(name, LONG).acquire();
    List<CompletableFuture<Long>> served = new ArrayList<>();
    for (int i = 0; i < 18; i++) {
      served.add(clients.get(i % 3).lock(name, LONG).acquireAsync().thenApply(next -> {
        long token = next.token();
        next.close();
        return token;
      }));
    }
    assertTrue(hold.release());
    assertEquals(18, served.stream().map(Await::value).distinct().count());
  }

  /** A client that fell silent while it waited delays the others by less than its own lease would. */
  @Test
  void deadWaiter_isPassedOver() throws Exception {
    Holdfast holder = client();
    Hold hold = holder.lock(name, LONG).acquire();
    Faulty dead = impatient(Duration.ofSeconds(5));
    dead.faults().on(Verb.ATTEMPT).once().holdBackReply();
    CompletableFuture<Hold> never = dead.lock(name, LONG).acquireAsync();
    Await.until("it was answered that the lock is busy", () -> dead.faults().heldBack() == 1);
    dead.faults().letThrough();
    Task<Hold> alive = spawnAcquire(client().lock(name, LONG)).awaitWaiting();
    dead.faults().goSilent();
    long released = nanoTime();
    assertTrue(hold.release());
    assertTrue(alive.get().release());
    Duration took = Duration.ofNanos(nanoTime() - released);
    assertTrue(took.compareTo(LONG.leaseFor()) < 0, () -> "took " + DurationText.of(took));
    Await.failure(never);
  }

  /** The budget is spent: the exception names the holder and the wait. */
  @Test
  void acquire_timedOut_namesTheHolder() throws Exception {
    Holdfast holder = client(builder -> builder.clientName("holder-of-the-test"));
    LockOptions noted = LONG.toBuilder().note("a note").build();
    try (Hold hold = holder.lock(name, noted).acquire()) {
      Duration budget = Duration.ofMillis(150);
      long began = nanoTime();
      AcquireTimeoutException timeout = assertThrows(
          AcquireTimeoutException.class,
          () -> client().lock(name, LONG).acquire(budget).close());
      assertTrue(nanoTime() - began >= budget.toNanos());
      assertEquals(budget, timeout.waited());
      assertEquals("holder-of-the-test", timeout.holder().orElseThrow().client());
      assertEquals("a note", timeout.holder().orElseThrow().note());
      assertEquals(Optional.of(name), timeout.lockName());
      // the withdrawal is on its way
      Await.until("no client waits", () -> inStore().orElseThrow().waiters().known() == 0);
      assertTrue(hold.isValid());
    }
  }

  /** The same within one client, where the holder is known without asking. */
  @Test
  void acquire_timedOutLocally_namesTheHolder() throws Exception {
    DistributedLock lock = client(builder -> builder.clientName("myself")).lock(name, LONG);
    try (Hold hold = lock.acquire()) {
      AcquireTimeoutException timeout = assertThrows(
          AcquireTimeoutException.class,
          () -> lock.acquire(Duration.ofMillis(50)).close());
      assertEquals("myself", timeout.holder().orElseThrow().client());
      assertTrue(hold.isValid());
    }
  }

  /** The try with a budget is empty when it is spent, and gets the lock when it comes in time. */
  @Test
  void tryAcquire_withinABudget() throws Exception {
    Holdfast second = client();
    Hold hold = client().lock(name, LONG).acquire();
    Duration budget = Duration.ofMillis(100);
    long began = nanoTime();
    assertTrue(second.lock(name, LONG).tryAcquire(budget).isEmpty());
    assertTrue(nanoTime() - began >= budget.toNanos());
    Task<Optional<Hold>> waiter =
        spawn("tries", () -> second.lock(name, LONG).tryAcquire(PLENTY)).awaitWaiting();
    assertTrue(hold.release());
    assertTrue(waiter.get().orElseThrow().release());
  }

  /** Zero and less mean one attempt; the longest wait overflows nothing. */
  @Test
  void waits_atTheirLimits() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    DistributedLock other = client().lock(name, LONG);
    for (Duration none :
        List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
      try (Hold hold = lock.acquire(none)) {
        assertTrue(hold.isValid());
        assertThrows(AcquireTimeoutException.class, () -> other.acquire(none).close());
        assertTrue(other.tryAcquire(none).isEmpty());
      }
      lock.tryAcquire(none).orElseThrow().close();
    }
    Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    Hold hold = lock.acquire(longest);
    Task<Optional<Hold>> waiter =
        spawn("waits", () -> other.tryAcquire(longest)).awaitWaiting();
    assertTrue(hold.release());
    assertTrue(waiter.get().orElseThrow().release());
  }

  /** The budget is one, for the local queue and the store together. */
  @Test
  void budget_isSharedByAllQueues() throws Exception {
    try (Hold hold = client().lock(name, LONG).acquire()) {
      DistributedLock lock = client().lock(name, LONG);
      List<CompletableFuture<Optional<Hold>>> waiters = new ArrayList<>();
      long began = nanoTime();
      for (int i = 0; i < 5; i++) {
        waiters.add(lock.tryAcquireAsync(Duration.ofMillis(200)));
      }
      for (CompletableFuture<Optional<Hold>> waiter : waiters) {
        assertTrue(Await.value(waiter).isEmpty());
      }
      Duration took = Duration.ofNanos(nanoTime() - began);
      assertTrue(
          took.compareTo(Duration.ofMillis(200).plus(SLACK)) < 0,
          () -> "took " + DurationText.of(took));
      assertTrue(hold.isValid());
    }
  }

  /** Who waits for himself for ever is told so. */
  @Test
  void acquire_onTheThreadThatHolds_isRefused() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    try (Hold hold = lock.acquire()) {
      assertThrows(IllegalStateException.class, () -> lock.acquire().close());
      assertThrows(IllegalStateException.class, () -> lock.run(again -> {}));
      assertThrows(
          AcquireTimeoutException.class,
          () -> lock.acquire(Duration.ofMillis(20)).close());
      assertTrue(hold.isValid());
    }
    lock.acquire().close();
  }

  /** A detached hold, an asynchronous one, a fixed lease, another thread's: the wait may end, so it begins. */
  @Test
  void acquire_whereTheWaitCanEnd_waits() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Task<Boolean> detached = spawn("detached", () -> {
      Hold hold = lock.acquire().detach();
      Task<Boolean> worker = spawn("worker", hold::release);
      lock.acquire().close();
      return worker.get();
    });
    assertTrue(detached.get());
    Task<Boolean> async = spawn("async", () -> {
      Hold hold = lock.acquireAsync().get();
      Task<Boolean> worker = spawn("worker", hold::release);
      lock.acquire().close();
      return worker.get();
    });
    assertTrue(async.get());
    Task<Boolean> fixed = spawn("fixed", () -> {
      Hold hold = lock.withOptions(brief()).acquire();
      lock.acquire().close();
      return hold.isValid();
    });
    assertFalse(fixed.get());
  }
}
