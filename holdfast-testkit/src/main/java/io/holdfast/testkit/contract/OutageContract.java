// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.JavaLock;
import io.holdfast.LockInfo;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Faults;
import io.holdfast.testkit.FaultyStore;
import io.holdfast.testkit.Verb;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** P7: busy, broken and unknown are three answers; and after none of them anything is left behind (P4). */
abstract class OutageContract extends Contract {
  private static final Duration SOME = Duration.ofMillis(100);

  /** The store could not be asked: that is what is said, by every way to ask. */
  @Test
  void storeThatFails_isUnavailable() {
    Faulty faulty = faulty();
    faulty.faults().on(Verb.ATTEMPT).fail();
    DistributedLock lock = faulty.lock(name, LONG);
    JavaLock view = lock.asJavaLock();
    List<Executable> calls = List.of(
        () -> lock.tryAcquire().isPresent(),
        () -> lock.tryAcquire(SOME).isPresent(),
        () -> lock.acquire(Duration.ZERO).close(),
        () -> lock.acquire(SOME).close(),
        () -> lock.acquire().close(),
        () -> lock.run(hold -> {}),
        () -> lock.tryRun(hold -> {}),
        () -> view.lock(),
        () -> view.lockInterruptibly(),
        () -> view.tryLock(),
        () -> view.tryLock(SOME.toMillis(), TimeUnit.MILLISECONDS));
    for (Executable call : calls) {
      StoreUnavailableException e = assertThrows(StoreUnavailableException.class, call);
      assertEquals(Reason.UNREACHABLE, e.reason());
      assertSaysWhere(e);
    }
    for (var future : List.of(
        lock.acquireAsync(),
        lock.acquireAsync(SOME),
        lock.tryAcquireAsync(),
        lock.tryAcquireAsync(SOME))) {
      assertEquals(StoreUnavailableException.class, Await.failure(future).getClass());
    }
    assertFalse(isTaken());
    assertEquals(0, view.holdCount());
  }

  /** The store was asked and stayed silent: nobody knows, and that is what is said, by every way to ask. */
  @Test
  void storeThatIsSilent_isUnknown() {
    Faulty faulty = faulty();
    faulty.faults().on(Verb.ATTEMPT).loseRequest();
    DistributedLock lock = faulty.lock(name, LONG);
    JavaLock view = lock.asJavaLock();
    List<Executable> calls = List.of(
        () -> lock.tryAcquire().isPresent(),
        () -> lock.tryAcquire(SOME).isPresent(),
        () -> lock.acquire(Duration.ZERO).close(),
        () -> lock.acquire(SOME).close(),
        () -> lock.acquire().close(),
        () -> view.lock(),
        () -> view.tryLock(),
        () -> view.tryLock(SOME.toMillis(), TimeUnit.MILLISECONDS));
    for (Executable call : calls) {
      assertSaysWhere(assertThrows(AcquireUnknownException.class, call));
    }
    for (var future : List.of(lock.acquireAsync(), lock.tryAcquireAsync())) {
      assertEquals(AcquireUnknownException.class, Await.failure(future).getClass());
    }
    awaitNothingInStore();
  }

  /** The answer was lost, the lock was granted: a try says unknown, and the grant is taken back. */
  @Test
  void tryAcquire_replyLost_isTakenBack() {
    Faulty faulty = faulty();
    faulty.faults().on(Verb.ATTEMPT).loseReply();
    assertThrows(
        AcquireUnknownException.class,
        () -> faulty.lock(name, LONG).tryAcquire().isPresent());
    awaitNothingInStore();
    assertTrue(client().lock(name, LONG).tryAcquire().orElseThrow().release());
  }

  /** The answer was lost, the lock was granted: a wait asks again and finds its own grant. */
  @Test
  void acquire_replyLost_findsItsOwnGrant() throws Exception {
    Faulty faulty = faulty(builder -> builder.requestTimeout(IMPATIENT));
    faulty.faults().on(Verb.ATTEMPT).once().loseReply();
    DistributedLock lock = faulty.lock(name, LONG);
    Hold hold = lock.acquire();
    assertTrue(faulty.faults().requests(Verb.ATTEMPT) >= 2);
    assertEquals(hold.token(), inStore().orElseThrow().token());
    assertReleases(lock, hold);
    faulty.faults().on(Verb.ATTEMPT).once().breakOff();
    Hold second = lock.acquire();
    assertEquals(second.token(), inStore().orElseThrow().token());
    assertReleases(lock, second);
    assertFalse(isTaken());
  }

  /** A wait goes on after an outage that ends within its budget. */
  @Test
  void acquire_outageWithinTheBudget_isSurvived() throws Exception {
    Faulty faulty = faulty();
    faulty.faults().on(Verb.ATTEMPT).times(2).fail();
    DistributedLock lock = faulty.lock(name, LONG);
    assertReleases(lock, lock.acquire(PLENTY));
    faulty.faults().on(Verb.ATTEMPT).times(2).loseRequest();
    assertReleases(lock, lock.tryAcquire(PLENTY).orElseThrow());
    Faulty untimed = faulty(builder -> builder.storeRetryFor(PLENTY));
    untimed.faults().on(Verb.ATTEMPT).once().fail();
    assertTrue(untimed.lock(name, LONG).acquire().release());
  }

  /** A wait behind a holder survives an outage too, and hears of the release. */
  @Test
  void acquire_outageDuringTheWait_isSurvived() throws Exception {
    Faulty faulty = faulty(builder -> builder.requestTimeout(IMPATIENT).storeRetryFor(PLENTY));
    DistributedLock lock = faulty.lock(name, LONG);
    Hold hold = client().lock(name, LONG).acquire();
    Task<Hold> waiter = spawnAcquire(lock).awaitWaiting();
    faulty.faults().goSilent();
    assertTrue(hold.release());
    faulty.faults().heal();
    assertReleases(lock, waiter.get());
  }

  /** What only a person can put right is not retried. */
  @Test
  void acquire_refused_failsAtOnce() {
    Faulty faulty = faulty(builder -> builder.storeRetryFor(Duration.ofHours(1)));
    for (Reason reason : List.of(Reason.REFUSED, Reason.FULL, Reason.DAMAGED)) {
      faulty.faults().on(Verb.ATTEMPT).fail(reason);
      StoreUnavailableException e = assertThrows(
          StoreUnavailableException.class,
          () -> faulty.lock(name, LONG).acquire().close());
      assertEquals(reason, e.reason());
      faulty.faults().heal();
    }
  }

  /** A grant whose answer came after its lease is no grant. */
  @Test
  void acquire_answerAfterTheLease_isNotReturned() throws Exception {
    Faulty faulty = faulty(builder -> {});
    faulty.faults().on(Verb.ATTEMPT).once().holdBackReply();
    faulty.faults().on(Verb.ATTEMPT).loseRequest();
    Task<Hold> late = spawnAcquire(faulty.lock(name, brief()));
    Await.until("the answer is on its way", () -> faulty.faults().heldBack() == 1);
    Hold other = client().lock(name, brief()).acquire();
    faulty.faults().heal();
    Hold next = late.get();
    assertTrue(next.token() > other.token());
    // it may have ended meanwhile
    releases(next);
    assertFalse(next.isValid());
  }

  /** Requests that arrive twice do no harm. */
  @Test
  void duplicates_areHarmless() throws Exception {
    Faulty faulty = faulty();
    faulty.faults().on(Verb.ATTEMPT, Verb.KEEP, Verb.END).duplicate();
    DistributedLock other = client().lock(name, LONG);
    long last = 0;
    for (int i = 0; i < 5; i++) {
      try (Hold hold = faulty.lock(name, briefRenewed()).acquire(PLENTY)) {
        assertTrue(hold.token() > last);
        assertTrue(other.tryAcquire().isEmpty());
        last = hold.token();
      }
      try (Hold hold = other.acquire()) {
        assertTrue(hold.token() > last);
        last = hold.token();
      }
    }
  }

  /** An attempt that arrives after its withdrawal is not applied, or taken back. */
  @Test
  void lateAttempt_leavesNothing() throws Exception {
    Faulty faulty = faulty();
    faulty.faults().on(Verb.ATTEMPT).once().holdBack();
    assertThrows(
        AcquireUnknownException.class,
        () -> faulty.lock(name, LONG).tryAcquire().isPresent());
    Await.until("the withdrawal was sent", () -> faulty.faults().requests(Verb.END) > 0);
    faulty.faults().letThrough();
    awaitNothingInStore();
    try (Hold next = client().lock(name, LONG).acquire(PLENTY)) {
      assertTrue(next.isValid());
    }
  }

  /** A silent release says so, is invalid all the same, and goes on until the store has confirmed it. */
  @Test
  void release_storeThatFails_throwsAndGoesOn() throws Exception {
    Faulty faulty = faulty();
    for (int i = 0; i < 3; i++) {
      Hold hold = faulty.lock(name, LONG).acquire(PLENTY);
      switch (i) {
        case 0 -> faulty.faults().on(Verb.END).fail();
        case 1 -> faulty.faults().on(Verb.END).loseRequest();
        default -> faulty.faults().on(Verb.END).loseReply();
      }
      StoreUnavailableException e =
          assertThrows(StoreUnavailableException.class, i == 1 ? hold::releaseNow : hold::release);
      assertSaysWhere(e);
      assertFalse(hold.isValid());
      assertFalse(hold.release());
      faulty.faults().heal();
      awaitNothingInStore();
    }
  }

  /** Closing a hold and unlocking are quiet about a silent store. */
  @Test
  void closeAndUnlock_storeThatIsSilent_areQuiet() throws Exception {
    Faulty faulty = faulty();
    Hold hold = faulty.lock(name, LONG).acquire(PLENTY);
    faulty.faults().on(Verb.END).loseRequest();
    hold.close();
    assertFalse(hold.isValid());
    faulty.faults().heal();
    awaitNothingInStore();
    JavaLock view = faulty.lock(name, LONG).asJavaLock();
    assertTrue(view.tryLock(PLENTY.toMillis(), TimeUnit.MILLISECONDS));
    faulty.faults().on(Verb.END).loseRequest();
    view.unlock();
    assertEquals(0, view.holdCount());
    faulty.faults().heal();
    awaitNothingInStore();
  }

  /** What the operator asks fails with the store. */
  @Test
  void admin_storeThatFails_isUnavailable() throws Exception {
    Faulty faulty = faulty();
    try (Hold hold = client().lock(name, LONG).acquire()) {
      LockInfo seen = inStore().orElseThrow();
      faulty.faults().on(Verb.LOOK, Verb.EVICT).fail();
      assertAdminFails(faulty, seen);
      faulty.faults().heal();
      faulty.faults().on(Verb.LOOK, Verb.EVICT).loseRequest();
      assertAdminFails(faulty, seen);
      assertTrue(hold.isValid());
    }
  }

  /** A store that cannot be reached stops the client from being made, unless that is put off. */
  @Test
  void build_storeThatFails_isUnavailable() throws Exception {
    FaultyStore refuses = new FaultyStore(store().open());
    refuses.faults().on(Verb.CONNECT).fail();
    assertThrows(
        StoreUnavailableException.class,
        () -> Holdfast.builder().store(refuses).build().close());
    Faulty lazy = lazily(faults -> faults.on(Verb.CONNECT).fail());
    assertThrows(
        StoreUnavailableException.class,
        () -> lazy.lock(name, LONG).tryAcquire().isPresent());
    lazy.faults().heal();
    DistributedLock lock = lazy.lock(name, LONG);
    assertReleases(lock, lock.acquire(PLENTY));
  }

  private Faulty lazily(Consumer<Faults> script) {
    return faulty(
        builder -> builder
            .requestTimeout(IMPATIENT)
            .storeRetryFor(Duration.ofMillis(600))
            .connectLazily(),
        script);
  }

  private static void assertAdminFails(Faulty faulty, LockInfo seen) {
    assertThrows(
        StoreUnavailableException.class, () -> faulty.holdfast().admin().list(""));
    assertThrows(
        StoreUnavailableException.class, () -> faulty.holdfast().admin().inspect(seen.name()));
    assertThrows(
        StoreUnavailableException.class, () -> faulty.holdfast().admin().forceRelease(seen));
  }

  private void assertSaysWhere(HoldfastException e) {
    assertEquals(Optional.of(name), e.lockName());
    assertFalse(e.store().isBlank());
    assertTrue(String.valueOf(e.getMessage()).contains(e.store()), e::toString);
  }
}
