// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A hold that passes from thread to thread of one client without the store: when, and when not. */
abstract class HandOverContract extends Contract {
  /** A waiter with equal options gets the hold at once, with a greater token of the same grant, without a request. */
  @Test
  void release_withALocalWaiter_handsOver() throws Exception {
    Events events = new Events();
    Faulty faulty = faulty(builder -> builder.listener(events));
    Hold first = faulty.lock(name, LONG).acquire();
    int requests = faulty.faults().requests(Verb.ATTEMPT);
    LockOptions sameLease = LONG.toBuilder().note("other note").build();
    CompletableFuture<Hold> waiter = faulty.lock(name, sameLease).acquireAsync();
    assertTrue(first.release());
    Hold second = Await.value(waiter);
    assertHandedOver(first, second);
    assertEquals(requests, faulty.faults().requests(Verb.ATTEMPT));
    assertEquals(0, faulty.faults().requests(Verb.END));
    LockEvent.HandedOver event = events.await(LockEvent.HandedOver.class, 1).get(0);
    assertEquals(second.token(), event.token());
    assertTrue(isTaken());
    assertTrue(second.release());
    assertFalse(isTaken());
  }

  /** The old handle is over for good: it can neither see nor touch its successor's hold. */
  @Test
  void oldHandle_afterHandOver_isPowerless() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold first = lock.acquire();
    CompletableFuture<Hold> waiter = lock.acquireAsync();
    assertTrue(first.release());
    Hold second = Await.value(waiter);
    assertFalse(first.isValid());
    assertEquals(HoldState.RELEASED, first.state());
    assertFalse(first.release());
    assertFalse(first.releaseNow());
    first.close();
    assertFalse(first.lost().isDone());
    assertTrue(second.isValid());
    assertTrue(isTaken());
    assertTrue(second.release());
  }

  /** Tokens keep growing over hand-overs and grants, more of them than one grant can number. */
  @Test
  void manyHandOvers_tokensGrow() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    Hold hold = lock.acquire();
    for (int i = 0; i < 600; i++) {
      waiters.add(lock.acquireAsync());
    }
    int grants = 1;
    for (CompletableFuture<Hold> waiter : waiters) {
      assertTrue(hold.release());
      Hold next = Await.value(waiter);
      assertTrue(next.token() > hold.token());
      grants += next.token() >>> 8 == hold.token() >>> 8 ? 0 : 1;
      hold = next;
    }
    assertTrue(hold.release());
    assertTrue(grants >= 3 && grants < 50, "grants: " + grants);
  }

  /** Another lease, a fixed lease, or a kept lock goes back to the store. */
  @Test
  void release_otherOptions_goesToTheStore() throws Exception {
    LockOptions longer =
        LONG.toBuilder().leaseFor(LONG.leaseFor().plusSeconds(1)).build();
    LockOptions fixed = LONG.toBuilder().renew(false).build();
    LockOptions kept = LONG.toBuilder().holdAtLeast(Duration.ofMillis(300)).build();
    assertFalse(handsOver(LONG, longer));
    assertFalse(handsOver(longer, LONG));
    assertFalse(handsOver(LONG, fixed));
    assertFalse(handsOver(fixed, fixed));
    assertFalse(handsOver(kept, LONG));
    assertTrue(handsOver(LONG, LONG));
  }

  /** A waiter that left does not take the hold with it. */
  @Test
  void cancelledWaiter_isPassedOver() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    Hold first = lock.acquire();
    CompletableFuture<Hold> left = lock.acquireAsync();
    CompletableFuture<Hold> stays = lock.acquireAsync();
    assertTrue(left.cancel(true));
    assertTrue(first.release());
    Hold second = Await.value(stays);
    assertHandedOver(first, second);
    assertTrue(second.release());
  }

  /** A hold that is lost is handed to nobody: the waiter gets a grant of its own. */
  @Test
  @Warns("hold lost: SESSION_ENDED")
  void lostHold_isNotHandedOver() throws Exception {
    Faulty faulty = faulty(builder -> builder.requestTimeout(IMPATIENT));
    Hold first = faulty.lock(name, briefRenewed()).acquire();
    CompletableFuture<Hold> waiter = faulty.lock(name, briefRenewed()).acquireAsync();
    faulty.faults().loseHold(name);
    assertFalse(first.isValid());
    Hold second = Await.value(waiter);
    assertNotEquals(first.token() >>> 8, second.token() >>> 8);
    assertTrue(second.token() > first.token());
    assertReleases(faulty.lock(name, briefRenewed()), second);
  }

  /** While another client waits, the threads of one client do not keep the lock among themselves for ever. */
  @Test
  void handOvers_doNotStarveAnotherClient() throws Exception {
    DistributedLock greedy = client().lock(name, LONG);
    AtomicBoolean served = new AtomicBoolean();
    List<Task<?>> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(spawn("greedy", () -> {
        while (!served.get()) {
          greedy.acquire().close();
        }
        return true;
      }));
    }
    Holdfast other = client();
    for (int i = 0; i < 3; i++) {
      try (Hold hold = other.lock(name, LONG).acquire(PLENTY)) {
        assertTrue(hold.isValid());
      }
    }
    served.set(true);
    threads.forEach(Task::get);
  }

  private boolean handsOver(LockOptions from, LockOptions to) throws Exception {
    Holdfast holdfast = client();
    Hold first = holdfast.lock(name, from).acquire();
    CompletableFuture<Hold> waiter = holdfast.lock(name, to).acquireAsync();
    assertTrue(first.release());
    Hold second = Await.value(waiter);
    assertTrue(second.token() > first.token());
    assertTrue(second.release());
    return second.token() >>> 8 == first.token() >>> 8;
  }

  private static void assertHandedOver(Hold first, Hold second) {
    assertEquals(first.token() >>> 8, second.token() >>> 8);
    assertTrue(second.token() > first.token());
    assertTrue(second.isValid());
  }
}
