// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** P8: the reentrant view behaves as {@code java.util.concurrent.locks} taught people. */
@SuppressWarnings("LockNotBeforeTry") // a test that fails leaves its client to be closed
abstract class JavaLockContract extends Contract {
  /** Entering again is counted, costs no request and keeps the token; the last way out releases. */
  @Test
  void lock_again_isCounted() throws Exception {
    Faulty faulty = faulty(builder -> {});
    JavaLock view = faulty.lock(name, LONG).asJavaLock();
    assertEquals(0, view.holdCount());
    view.lock();
    long token = view.hold().token();
    int requests = faulty.faults().requests(Verb.ATTEMPT);
    view.lockInterruptibly();
    assertTrue(view.tryLock());
    assertTrue(view.tryLock(1, TimeUnit.SECONDS));
    assertEquals(4, view.holdCount());
    assertTrue(view.isHeldByCurrentThread());
    assertEquals(token, view.hold().token());
    assertEquals(requests, faulty.faults().requests(Verb.ATTEMPT));
    for (int left = 3; left >= 0; left--) {
      assertTrue(isTaken());
      view.unlock();
      assertEquals(left, view.holdCount());
    }
    assertFalse(isTaken());
    assertFalse(view.isHeldByCurrentThread());
  }

  /** Entering again does not shorten what is left of the lease. */
  @Test
  void lock_againWithAShorterLease_keepsTheLease() {
    Holdfast holdfast = client();
    JavaLock outer = holdfast.lock(name, LONG).asJavaLock();
    JavaLock inner = holdfast.lock(name, brief()).asJavaLock();
    outer.lock();
    inner.lock();
    assertTrue(inner.hold().remaining().compareTo(LONG.leaseFor().dividedBy(2)) > 0);
    inner.unlock();
    outer.unlock();
  }

  /** All views of one name in one client are one lock. */
  @Test
  void views_ofOneName_areOneLock() {
    Holdfast holdfast = client();
    JavaLock one = holdfast.lock(name, LONG).asJavaLock();
    JavaLock other = holdfast.lock(name, LONG).asJavaLock();
    one.lock();
    other.lock();
    assertEquals(2, one.holdCount());
    assertEquals(one.hold().token(), other.hold().token());
    one.unlock();
    assertTrue(one.isHeldByCurrentThread());
    one.unlock();
    assertFalse(other.isHeldByCurrentThread());
    assertFalse(isTaken());
  }

  /** Two clients are two owners, on one thread too. */
  @Test
  void views_ofTwoClients_exclude() {
    JavaLock one = client().lock(name, LONG).asJavaLock();
    JavaLock other = client().lock(name, LONG).asJavaLock();
    one.lock();
    assertFalse(other.tryLock());
    assertFalse(other.isHeldByCurrentThread());
    assertThrows(IllegalMonitorStateException.class, other::unlock);
    one.unlock();
    assertTrue(other.tryLock());
    other.unlock();
  }

  /** Who does not own it cannot unlock it, nor see its hold; the owner does not notice. */
  @Test
  void unlock_byAStranger_isRefused() {
    JavaLock view = client().lock(name, LONG).asJavaLock();
    assertThrows(IllegalMonitorStateException.class, view::unlock);
    assertThrows(IllegalMonitorStateException.class, view::hold);
    view.lock();
    Task<Boolean> stranger = spawn("stranger", () -> {
      assertThrows(IllegalMonitorStateException.class, view::unlock);
      assertThrows(IllegalMonitorStateException.class, view::hold);
      assertFalse(view.isHeldByCurrentThread());
      assertEquals(0, view.holdCount());
      return view.tryLock();
    });
    assertFalse(stranger.get());
    assertTrue(view.isHeldByCurrentThread());
    assertTrue(isTaken());
    view.unlock();
    assertThrows(IllegalMonitorStateException.class, view::unlock);
  }

  /** After a loss: no way in, every way out is told of it, and then it works again with a greater token. */
  @Test
  void lostHold_isToldOnTheWayOut() {
    // entered twice, and once more afterwards, before it ends
    LockOptions ends = brief().toBuilder()
        .leaseFor(longer(briefLease(), Duration.ofSeconds(4)))
        .build();
    JavaLock view = client().lock(name, ends).asJavaLock();
    view.lock();
    view.lock();
    Hold lost = view.hold();
    Await.until("it is lost", () -> lost.state() == HoldState.LOST);
    assertFalse(view.isHeldByCurrentThread());
    assertEquals(2, view.holdCount());
    assertCausedByLoss(assertThrows(IllegalStateException.class, view::lock));
    assertCausedByLoss(assertThrows(IllegalStateException.class, view::lockInterruptibly));
    assertCausedByLoss(assertThrows(IllegalStateException.class, view::tryLock));
    assertCausedByLoss(
        assertThrows(IllegalStateException.class, () -> view.tryLock(1, TimeUnit.SECONDS)));
    assertEquals(2, view.holdCount());
    assertCausedByLoss(assertThrows(IllegalMonitorStateException.class, view::unlock));
    assertEquals(1, view.holdCount());
    assertCausedByLoss(assertThrows(IllegalMonitorStateException.class, view::unlock));
    assertEquals(0, view.holdCount());
    view.lock();
    assertTrue(view.hold().token() > lost.token());
    view.unlock();
  }

  /** {@code lock()} is not stopped by an interrupt, before it or during the wait, and keeps the flag. */
  @Test
  void lock_interrupted_locksAndKeepsTheFlag() throws Exception {
    JavaLock view = client().lock(name, LONG).asJavaLock();
    Thread.currentThread().interrupt();
    view.lock();
    assertTrue(Thread.interrupted());
    view.unlock();
    Hold hold = client().lock(name, LONG).acquire();
    Task<Boolean> waiter = spawn("locks", () -> {
          view.lock();
          boolean flag = Thread.currentThread().isInterrupted();
          view.unlock();
          return flag;
        })
        .awaitWaiting();
    waiter.interrupt();
    assertFalse(waiter.isDone());
    waiter.awaitWaiting();
    assertTrue(hold.release());
    assertTrue(waiter.get());
  }

  /** The interruptible ways in: thrown on entry and during the wait, flag cleared, nothing taken. */
  @Test
  void lockInterruptibly_interrupted_throws() throws Exception {
    JavaLock view = client().lock(name, LONG).asJavaLock();
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, view::lockInterruptibly);
    assertFalse(Thread.interrupted());
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> view.tryLock(1, TimeUnit.SECONDS));
    assertFalse(Thread.interrupted());
    assertFalse(isTaken());
    try (Hold hold = client().lock(name, LONG).acquire()) {
      Task<?> waiter = spawn("locks", () -> {
            view.lockInterruptibly();
            return true;
          })
          .awaitWaiting();
      waiter.interrupt();
      waiter.failure(InterruptedException.class);
      // it is taken back behind the caller's back: until then the release would hand the lock to it
      Await.until(
          "no waiter is left in the store",
          () -> inStore().orElseThrow().waiters().known() == 0);
      assertTrue(hold.isValid());
    }
    // its request may have been on the way all that time, and is taken back only when it is answered
    awaitNothingInStore();
  }

  /** The tries: false only because somebody else has it; the untimed one is not stopped by an interrupt. */
  @Test
  void tryLock_saysWhetherItIsBusy() throws Exception {
    JavaLock view = client().lock(name, LONG).asJavaLock();
    try (Hold hold = client().lock(name, LONG).acquire()) {
      assertFalse(view.tryLock());
      assertFalse(view.tryLock(0, TimeUnit.SECONDS));
      assertFalse(view.tryLock(-1, TimeUnit.SECONDS));
      assertFalse(view.tryLock(50, TimeUnit.MILLISECONDS));
      assertTrue(hold.isValid());
    }
    // the last of them may still be taken back, or have an attempt on its way
    awaitNothingInStore();
    Thread.currentThread().interrupt();
    assertTrue(view.tryLock());
    assertTrue(Thread.interrupted());
    view.unlock();
    assertTrue(view.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
    view.unlock();
  }

  /** A timed try waits for its turn. */
  @Test
  void tryLock_inTime_locks() throws Exception {
    JavaLock view = client().lock(name, LONG).asJavaLock();
    Hold hold = client().lock(name, LONG).acquire();
    Task<Boolean> waiter = spawn("locks", () -> {
          boolean locked = view.tryLock(PLENTY.toMillis(), TimeUnit.MILLISECONDS);
          view.unlock();
          return locked;
        })
        .awaitWaiting();
    assertTrue(hold.release());
    assertTrue(waiter.get());
  }

  /** A thread's own handle is in its way: told, instead of waiting for itself. */
  @Test
  void lock_behindAHandleOfThisThread_isRefused() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    try (Hold hold = lock.acquire()) {
      assertThrows(IllegalStateException.class, lock.asJavaLock()::lock);
      assertThrows(IllegalStateException.class, lock.asJavaLock()::lockInterruptibly);
      assertTrue(hold.isValid());
    }
    JavaLock view = lock.asJavaLock();
    view.lock();
    assertThrows(IllegalStateException.class, () -> lock.acquire().close());
    assertTrue(lock.tryAcquire().isEmpty());
    view.unlock();
    assertFalse(isTaken());
  }

  /** A thread that died without unlocking keeps the lock for a lease, not for ever. */
  @Test
  @Warns("hold lost: (THREAD_DIED|LEASE_ENDED)")
  void deadThread_isNotRenewed() throws Exception {
    Events events = new Events();
    JavaLock view =
        client(builder -> builder.listener(events)).lock(name, endingRenewed()).asJavaLock();
    Task<Boolean> dies = spawn("dies", () -> {
      view.lock();
      return true;
    });
    assertTrue(dies.get());
    dies.join();
    try (Hold next = client().lock(name, LONG).acquire()) {
      assertTrue(next.isValid());
    }
    events.await(LockEvent.Lost.class, 1);
    assertFalse(view.isHeldByCurrentThread());
  }

  /** There are no conditions. */
  @Test
  void newCondition_isNotSupported() {
    JavaLock view = client().lock(name).asJavaLock();
    assertThrows(UnsupportedOperationException.class, view::newCondition);
  }

  private static void assertCausedByLoss(Throwable told) {
    assertInstanceOf(HoldLostException.class, told.getCause());
  }
}
