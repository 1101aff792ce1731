// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockEvent;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** P4, P6 and P7 on a store that really hangs: nothing hangs with it, and nothing is left when it goes on. */
@ResourceLock(StoreContract.SHARED)
abstract class StallContract extends Contract {
  private boolean stalled;

  /** Ends the stall of a test that failed in the middle of it. */
  @AfterEach
  void resumeStore() {
    if (stalled) {
      resume();
    }
  }

  /** A try says that it does not know, within its time-out; nothing is left afterwards. */
  @Test
  void tryAcquire_whileTheStoreHangs_isUnknown() throws Exception {
    DistributedLock lock = impatient().lock(name, LONG);
    stall();
    long began = nanoTime();
    assertUnknownOrUnavailable(
        assertThrows(HoldfastException.class, () -> lock.tryAcquire().isPresent()));
    Duration took = Duration.ofNanos(nanoTime() - began);
    assertTrue(took.compareTo(PLENTY.dividedBy(4)) < 0, () -> "took " + DurationText.of(took));
    resume();
    awaitNothingInStore();
    assertReleases(lock, lock.acquire(PLENTY));
  }

  /** A wait goes on when the store does. */
  @Test
  void acquire_whileTheStoreHangs_waits() throws Exception {
    Holdfast holdfast = client(builder -> builder.requestTimeout(IMPATIENT).storeRetryFor(PLENTY));
    stall();
    DistributedLock lock = holdfast.lock(name, LONG);
    Task<Hold> waiter = spawnAcquire(lock).awaitWaiting();
    resume();
    assertReleases(lock, waiter.get());
  }

  /** A hold that could not be renewed is lost at its deadline, while the store still hangs. */
  @Test
  void hold_whileTheStoreHangs_isLostInTime() throws Exception {
    Events events = new Events();
    Holdfast holdfast = client(builder -> builder.requestTimeout(IMPATIENT).listener(events));
    Hold hold = holdfast.lock(name, endingRenewed()).acquire();
    stall();
    LockEvent.Lost lost = events.await(LockEvent.Lost.class, 1).get(0);
    assertEquals(LossReason.LEASE_ENDED, lost.reason());
    assertEquals(HoldState.LOST, hold.state());
    resume();
    try (Hold next = client().lock(name, LONG).acquire(PLENTY)) {
      assertTrue(next.token() > hold.token());
    }
    assertEquals(1, events.of(LockEvent.Lost.class).size());
  }

  /** A release that the store did not answer is said to be so, and done when the store goes on. */
  @Test
  void release_whileTheStoreHangs_goesOn() throws Exception {
    Hold hold = impatient().lock(name, LONG).acquire(PLENTY);
    stall();
    assertThrows(StoreUnavailableException.class, hold::release);
    resume();
    awaitNothingInStore();
  }

  private boolean answers() {
    try {
      observer().admin().list("");
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private Holdfast impatient() {
    return client(
        builder -> builder.requestTimeout(IMPATIENT).storeRetryFor(Duration.ofMillis(600)));
  }

  private static void assertUnknownOrUnavailable(HoldfastException e) {
    if (!(e instanceof StoreUnavailableException)) {
      assertInstanceOf(AcquireUnknownException.class, e);
    }
  }

  private void stall() {
    store().stall();
    stalled = true;
  }

  private void resume() {
    store().resume();
    stalled = false;
    Await.until("the store answers", () -> answers());
  }
}
