// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** P8, where the store declares it: arrival order between clients, among those that ask for it. */
abstract class FairnessContract extends Contract {
  private static final LockOptions FAIR = LONG.toBuilder().fair(true).build();

  /** Waiters of several clients are served in the order in which they came. */
  @Test
  void fairWaiters_areServedInOrder() throws Exception {
    List<Holdfast> clients = List.of(client(), client(), client());
    Hold hold = clients.get(0).lock(name, FAIR).acquire();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      waiters.add(clients.get(i % 3).lock(name, FAIR).acquireAsync());
      awaitWaiters(i + 1);
    }
    assertTrue(hold.release());
    long last = hold.token();
    for (int i = 0; i < waiters.size(); i++) {
      Hold next = Await.value(waiters.get(i));
      assertTrue(next.token() > last);
      last = next.token();
      for (CompletableFuture<Hold> later : waiters.subList(i + 1, waiters.size())) {
        assertFalse(later.isDone());
      }
      assertTrue(next.release());
    }
  }

  /** One that leaves the queue is passed over, and is gone from the store. */
  @Test
  void fairWaiterThatLeaves_isPassedOver() throws Exception {
    Hold hold = client().lock(name, FAIR).acquire();
    CompletableFuture<Hold> first = client().lock(name, FAIR).acquireAsync();
    awaitWaiters(1);
    CompletableFuture<Hold> second = client().lock(name, FAIR).acquireAsync();
    awaitWaiters(2);
    CompletableFuture<Hold> third = client().lock(name, FAIR).acquireAsync();
    awaitWaiters(3);
    assertTrue(second.cancel(true));
    awaitWaiters(2);
    assertTrue(first.cancel(true));
    awaitWaiters(1);
    assertTrue(hold.release());
    assertTrue(Await.value(third).release());
  }

  /** One that died at the head of the queue delays the next by less than a lease of the holder. */
  @Test
  void deadFairWaiter_isPassedOver() throws Exception {
    Hold hold = client().lock(name, FAIR).acquire();
    Faulty dead = impatient(Duration.ofSeconds(5));
    CompletableFuture<Hold> never = dead.lock(name, FAIR).acquireAsync();
    awaitWaiters(1);
    CompletableFuture<Hold> next = client().lock(name, FAIR).acquireAsync();
    awaitWaiters(2);
    dead.faults().goSilent();
    long released = nanoTime();
    assertTrue(hold.release());
    assertTrue(Await.value(next).release());
    Duration took = Duration.ofNanos(nanoTime() - released);
    assertTrue(took.compareTo(FAIR.leaseFor()) < 0, () -> "took " + DurationText.of(took));
    Await.failure(never);
  }

  /** A timed wait that ends leaves the queue. */
  @Test
  void fairWait_timedOut_leavesTheQueue() throws Exception {
    try (Hold hold = client().lock(name, FAIR).acquire()) {
      Optional<Hold> busy = client().lock(name, FAIR).tryAcquire(Duration.ofMillis(50));
      assertTrue(busy.isEmpty());
      awaitWaiters(0);
      assertTrue(hold.isValid());
    }
  }

  /** Fair or not: they exclude each other, and everybody is served. */
  @Test
  void fairAndUnfair_excludeEachOther() {
    Oracle oracle = new Oracle();
    List<Task<?>> tasks = new ArrayList<>();
    for (int c = 0; c < 3; c++) {
      Holdfast holdfast = client();
      for (LockOptions options : List.of(FAIR, LONG)) {
        tasks.add(spawn("works", () -> {
          for (int i = 0; i < 12; i++) {
            try (Hold hold = holdfast.lock(name, options).acquire()) {
              oracle.use(hold);
            }
          }
          return true;
        }));
      }
    }
    tasks.forEach(Task::get);
    assertEquals(72, oracle.count());
  }

  private void awaitWaiters(int count) {
    Await.until(
        count + " waiters are in the store's queue",
        () -> inStore().map(info -> info.waiters().known()).orElse(0) == count);
  }
}
