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
import io.holdfast.LockEvent;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What listeners are told: everything, once, in order, and whatever they do hurts nobody. */
abstract class ListenerContract extends Contract {
  /** The life of a hold. */
  @Test
  void aHoldsLife_isToldInOrder() throws Exception {
    Events events = new Events();
    DistributedLock lock = client(builder -> builder.listener(events)).lock(name, briefRenewed());
    Hold hold = lock.acquire();
    events.await(LockEvent.Renewed.class, 1);
    assertTrue(hold.release());
    LockEvent.Released released = events.await(LockEvent.Released.class, 1).get(0);
    assertFalse(released.abandoned());
    assertTrue(released.held().compareTo(Duration.ZERO) > 0);
    List<LockEvent> all = events.all();
    assertEquals(new LockEvent.Requested(name), all.get(0));
    LockEvent.Acquired acquired = (LockEvent.Acquired) all.get(1);
    assertEquals(hold.token(), acquired.token());
    assertFalse(acquired.waited().isNegative());
    assertEquals(released, all.get(all.size() - 1));
    all.forEach(event -> assertEquals(name, event.lockName()));
    assertEquals(1, events.of(LockEvent.Acquired.class).size());
  }

  /** Requests that end without a hold. */
  @Test
  void withdrawals_areTold() throws Exception {
    Events events = new Events();
    DistributedLock lock = client(builder -> builder.listener(events)).lock(name, LONG);
    try (Hold hold = client().lock(name, LONG).acquire()) {
      assertThrows(
          AcquireTimeoutException.class,
          () -> lock.acquire(Duration.ofMillis(20)).close());
      events.await(LockEvent.Withdrawn.class, 1);
      assertTrue(lock.acquireAsync().cancel(true));
      events.await(LockEvent.Withdrawn.class, 2);
      assertTrue(lock.tryAcquire().isEmpty());
      events.await(LockEvent.Withdrawn.class, 3);
      assertEquals(3, events.of(LockEvent.Requested.class).size());
      assertTrue(hold.isValid());
    }
    assertTrue(events.of(LockEvent.Acquired.class).isEmpty());
  }

  /** A hand-over is told as one, with the wait. */
  @Test
  void handOver_isTold() throws Exception {
    Events events = new Events();
    DistributedLock lock = client(builder -> builder.listener(events)).lock(name, LONG);
    Hold first = lock.acquire();
    CompletableFuture<Hold> waiter = lock.acquireAsync();
    assertTrue(first.release());
    Hold second = Await.value(waiter);
    assertTrue(second.release());
    events.await(LockEvent.Released.class, 2);
    assertEquals(1, events.of(LockEvent.Acquired.class).size());
    assertEquals(1, events.of(LockEvent.HandedOver.class).size());
    assertEquals(second.token(), events.of(LockEvent.HandedOver.class).get(0).token());
    List<LockEvent> all = events.all();
    LockEvent firstReleased = events.of(LockEvent.Released.class).get(0);
    assertEquals(first.token(), ((LockEvent.Released) firstReleased).token());
    assertTrue(all.indexOf(firstReleased)
        < all.indexOf(events.of(LockEvent.HandedOver.class).get(0)));
  }

  /** What a listener throws is counted; the others, and the lock, do not notice. */
  @Test
  @Warns("a callback failed")
  void listenerThatThrows_isCounted() throws Exception {
    Events events = new Events();
    Holdfast holdfast = client(builder -> builder
        .listener(event -> {
          throw new IllegalStateException("thrown on purpose by a test");
        })
        .listener(events));
    holdfast.lock(name, LONG).acquire().close();
    events.await(LockEvent.Released.class, 1);
    assertEquals(3, events.all().size());
    Await.until("all failures were counted", () -> holdfast.admin().callbackFailures() == 3);
  }

  /** One event at a time, on the callback executor, in order, although many threads make them. */
  @Test
  void listener_isToldOneAtATime() {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger overlaps = new AtomicInteger();
    List<LockEvent> seen = new ArrayList<>(); // without synchronization: one at a time
    AtomicInteger count = new AtomicInteger();
    Holdfast holdfast = client(builder -> builder.listener(event -> {
      overlaps.addAndGet(inside.getAndIncrement());
      LockSupport.parkNanos(1_000);
      // a machine that stalls for seconds makes renewals, which are told in between
      if (!(event instanceof LockEvent.Renewed || event instanceof LockEvent.AtRisk)) {
        seen.add(event);
        count.incrementAndGet();
      }
      inside.decrementAndGet();
    }));
    List<Task<?>> tasks = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      tasks.add(spawn("works", () -> {
        for (int i = 0; i < 25; i++) {
          holdfast.lock(name, LONG).acquire().close();
        }
        return true;
      }));
    }
    tasks.forEach(Task::get);
    Await.until("all was told", () -> count.get() >= 300);
    assertEquals(0, overlaps.get());
    assertEquals(300, seen.size(), () -> "events=" + seen);
    long last = 0;
    boolean held = false;
    for (LockEvent event : seen) {
      if (event instanceof LockEvent.Acquired || event instanceof LockEvent.HandedOver) {
        long token = event instanceof LockEvent.Acquired acquired
            ? acquired.token()
            : ((LockEvent.HandedOver) event).token();
        assertFalse(held, "granted before the release was told");
        assertTrue(token > last);
        last = token;
        held = true;
      } else if (event instanceof LockEvent.Released released) {
        assertEquals(last, released.token());
        held = false;
      }
    }
  }
}
