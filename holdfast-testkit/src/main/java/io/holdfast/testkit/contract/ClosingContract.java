// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockInfo;
import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Closing a client: its holds are invalid first, its waits fail, and then the store has nothing of it. */
abstract class ClosingContract extends Contract {
  /** Holds are invalid and released. */
  @Test
  void close_releasesAllHolds() throws Exception {
    Holdfast holdfast = client();
    Hold first = holdfast.lock(name, LONG).acquire();
    Hold second = holdfast.lock(name + "-2", LONG).acquire();
    JavaLock view = holdfast.lock(name + "-3", LONG).asJavaLock();
    view.lock();
    holdfast.close();
    for (Hold hold : new Hold[] {first, second}) {
      assertFalse(hold.isValid());
      assertEquals(Duration.ZERO, hold.remaining());
      assertFalse(hold.release());
      hold.close();
    }
    assertFalse(view.isHeldByCurrentThread());
    assertTrue(observer().admin().list(name).stream().noneMatch(LockInfo::isTaken));
  }

  /** The holds are invalid before the store hears of their release. */
  @Test
  void close_invalidatesBeforeItReleases() throws Exception {
    Faulty faulty = faulty(builder -> {});
    Hold hold = faulty.lock(name, LONG).acquire();
    faulty.faults().on(Verb.END).once().holdBack();
    Task<Boolean> closes = spawn("closes", () -> {
      faulty.holdfast().close();
      return true;
    });
    Await.until("the release is under way", () -> faulty.faults().heldBack() == 1);
    assertFalse(hold.isValid());
    assertTrue(isTaken());
    faulty.faults().letThrough();
    assertTrue(closes.get());
    assertFalse(isTaken());
  }

  /** Whoever waits is told, and leaves no waiter. */
  @Test
  void close_failsWaits() throws Exception {
    Holdfast holdfast = client();
    DistributedLock lock = holdfast.lock(name, LONG);
    try (Hold hold = client().lock(name, LONG).acquire()) {
      Task<Hold> blocking = spawnAcquire(lock).awaitWaiting();
      Task<?> timed = spawn("timed", () -> lock.tryAcquire(PLENTY)).awaitWaiting();
      Task<?> view = spawn("view", () -> {
            lock.asJavaLock().lock();
            return true;
          })
          .awaitWaiting();
      CompletableFuture<Hold> async = lock.acquireAsync();
      holdfast.close();
      blocking.failure(IllegalStateException.class);
      timed.failure(IllegalStateException.class);
      view.failure(IllegalStateException.class);
      assertInstanceOf(IllegalStateException.class, Await.failure(async));
      Await.until("no waiter is left", () -> inStore().orElseThrow().waiters().known() == 0);
      assertTrue(hold.isValid());
    }
  }

  /** A closed client refuses, and says why. */
  @Test
  void closedClient_refuses() {
    Holdfast holdfast = client();
    DistributedLock lock = holdfast.lock(name, LONG);
    JavaLock view = lock.asJavaLock();
    holdfast.close();
    assertThrows(IllegalStateException.class, () -> lock.tryAcquire().isPresent());
    assertThrows(IllegalStateException.class, () -> lock.tryAcquire(PLENTY).isPresent());
    assertThrows(IllegalStateException.class, () -> lock.acquire().close());
    assertThrows(IllegalStateException.class, () -> lock.acquire(PLENTY).close());
    assertThrows(IllegalStateException.class, () -> lock.run(hold -> {}));
    assertThrows(IllegalStateException.class, () -> lock.tryRun(hold -> {}));
    assertThrows(IllegalStateException.class, view::lock);
    assertThrows(IllegalStateException.class, view::lockInterruptibly);
    assertThrows(IllegalStateException.class, view::tryLock);
    assertThrows(IllegalStateException.class, () -> view.tryLock(1, TimeUnit.SECONDS));
    assertThrows(IllegalStateException.class, () -> holdfast.admin().list(""));
    assertThrows(IllegalStateException.class, () -> holdfast.admin().inspect(name));
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> lock.tryAcquire().isPresent());
    assertTrue(String.valueOf(refused.getMessage()).contains("closed"), refused::toString);
    assertFalse(isTaken());
  }

  /** Closing again does nothing; an interrupt does not stop it, and stays. */
  @Test
  void close_twiceAndInterrupted() throws Exception {
    Holdfast holdfast = client();
    Hold hold = holdfast.lock(name, LONG).acquire();
    Thread.currentThread().interrupt();
    holdfast.close();
    assertTrue(Thread.interrupted());
    assertFalse(hold.isValid());
    assertFalse(isTaken());
    holdfast.close();
  }

  /** A silent store holds up closing for one request at most. */
  @Test
  void close_storeThatIsSilent_returns() throws Exception {
    Faulty faulty = faulty();
    Hold hold = faulty.lock(name, endingRenewed()).acquire(PLENTY);
    faulty.faults().goSilent();
    long began = nanoTime();
    faulty.holdfast().close();
    Duration took = Duration.ofNanos(nanoTime() - began);
    assertTrue(took.compareTo(PLENTY.dividedBy(4)) < 0, () -> "took " + DurationText.of(took));
    assertFalse(hold.isValid());
    faulty.faults().heal();
    awaitNothingInStore();
  }
}
