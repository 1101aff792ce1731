// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantees;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.DurationText;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Verb;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** P2: a hold never outlives its lease; and a lease is renewed as long as, and only as long as, it is asked for. */
abstract class LeaseContract extends Contract {
  /** The validity is the lease less 1 %, 10 ms and the store's granularity, and it shrinks. */
  @Test
  void remaining_afterAcquire_isTheLeaseLessItsMargin() throws Exception {
    Holdfast holdfast = client();
    Duration lease = LONG.leaseFor();
    Duration most = lease
        .minus(lease.dividedBy(100))
        .minusMillis(10)
        .minus(holdfast.guarantees().granularity());
    try (Hold hold = holdfast.lock(name, LONG).acquire()) {
      Duration first = hold.remaining();
      assertTrue(
          first.compareTo(most) <= 0,
          () -> DurationText.exact(first) + " is more than " + DurationText.exact(most));
      assertTrue(
          first.compareTo(most.dividedBy(2)) > 0,
          () -> DurationText.exact(first) + " is far less than " + DurationText.exact(most));
      Await.until("time passes", () -> hold.remaining().compareTo(first) < 0);
    }
  }

  /** The validity is counted from before the request was sent, not from the answer. */
  @Test
  void remaining_afterASlowAnswer_isCountedFromTheRequest() throws Exception {
    Faulty faulty = faulty(builder -> {});
    faulty.faults().on(Verb.ATTEMPT).once().delayReply(Duration.ofMillis(300));
    Duration lease = LONG.leaseFor();
    try (Hold hold = faulty.lock(name, LONG).acquire()) {
      Duration most = lease.minus(lease.dividedBy(100)).minusMillis(310);
      assertTrue(
          hold.remaining().compareTo(most) <= 0,
          () -> DurationText.exact(hold.remaining()) + " of " + DurationText.exact(most));
    }
  }

  /** When somebody else gets an expired lock, its former holder already reads invalid. */
  @Test
  void isValid_whenTheLockPassesOnByExpiry_isFalseBefore() throws Exception {
    Holdfast first = client();
    Holdfast second = client();
    for (int i = 0; i < 2; i++) {
      Rounds.untilShown(
          brief(),
          options -> isSeenPassedOn(first.lock(name, options), second.lock(name, options)));
    }
  }

  /** Lets a lock pass on; false if either hold was over before it was looked at, so that nothing was seen of a change. */
  private static boolean isSeenPassedOn(DistributedLock first, DistributedLock second)
      throws Exception {
    Hold old = first.acquire();
    boolean wasValid = old.isValid();
    try (Hold next = second.acquire()) {
      assertFalse(old.isValid());
      assertEquals(HoldState.LOST, old.state());
      assertEquals(Duration.ZERO, old.remaining());
      return wasValid && next.isValid();
    }
  }

  /** A fixed lease ends although its holder lives. */
  @Test
  void renewOff_leaseEnds() throws Exception {
    Events events = new Events();
    Hold hold = client(builder -> builder.listener(events)).lock(name, brief()).acquire();
    assertEquals(
        LossReason.LEASE_ENDED, events.await(LockEvent.Lost.class, 1).get(0).reason());
    assertFalse(hold.isValid());
    assertTrue(events.of(LockEvent.Renewed.class).isEmpty());
    awaitNothingInStore();
  }

  /** A renewed lease is held for several times its length, under one token. */
  @Test
  void renewOn_leaseIsExtended() throws Exception {
    Rounds.untilShown(endingRenewed(), this::isSeenExtended);
  }

  /** Holds for several leases; false if one ended before its renewal could come, or was looked at, which shows nothing. */
  private boolean isSeenExtended(LockOptions options) throws Exception {
    Events events = new Events();
    Holdfast holdfast = client(builder -> builder.listener(events));
    try (Hold hold = holdfast.lock(name, options).acquire()) {
      long token = hold.token();
      Await.until(
          "it was renewed five times, or lost",
          () -> events.of(LockEvent.Renewed.class).size() >= 5 || !hold.isValid());
      for (LockEvent.Renewed renewed : events.of(LockEvent.Renewed.class)) {
        assertEquals(token, renewed.token());
        assertTrue(renewed.margin().compareTo(Duration.ZERO) > 0);
      }
      boolean refused = isRefused(client().lock(name, LONG));
      if (!hold.isValid()) {
        return false;
      }
      assertEquals(token, hold.token());
      assertTrue(refused);
      return releases(hold);
    }
  }

  /** A renewal that was under way does not bring back what was released. */
  @Test
  void release_whileARenewalIsUnderWay_staysReleased() throws Exception {
    Faulty faulty = faulty(builder -> {});
    Hold hold = faulty.lock(name, briefRenewed()).acquire();
    faulty.faults().on(Verb.KEEP).once().holdBack();
    Await.until("a renewal is under way", () -> faulty.faults().heldBack() > 0);
    assertTrue(hold.release());
    faulty.faults().letThrough();
    assertFalse(isTaken());
    try (Hold next = client().lock(name, LONG).tryAcquire().orElseThrow()) {
      assertTrue(next.token() > hold.token());
      assertEquals(HoldState.RELEASED, hold.state());
    }
  }

  /** Nothing is renewed after its release. */
  @Test
  void release_endsTheRenewals() throws Exception {
    Faulty faulty = faulty(builder -> {});
    DistributedLock lock = faulty.lock(name, briefRenewed());
    Hold hold = lock.acquire();
    Await.until("it is renewed", () -> faulty.faults().requests(Verb.KEEP) > 0);
    assertTrue(hold.release());
    // a second hold is renewed in the same time: had the first one been renewed too, it would show
    int before = faulty.faults().requests(Verb.KEEP);
    try (Hold other = faulty.lock(name + "-other", briefRenewed()).acquire()) {
      Await.until("the other is renewed", () -> faulty.faults().requests(Verb.KEEP) >= before + 2);
      assertTrue(other.isValid());
    }
    assertFalse(isTaken());
  }

  /** A client that fell silent loses its lock to the next one, after its lease. */
  @Test
  void holderThatFellSilent_losesTheLockAfterItsLease() throws Exception {
    Faulty faulty = faulty();
    Hold hold = faulty.lock(name, endingRenewed()).acquire(PLENTY);
    faulty.faults().goSilent();
    try (Hold next = client().lock(name, LONG).acquire()) {
      assertFalse(hold.isValid());
      assertTrue(next.token() > hold.token());
    }
  }

  /** A hold ends when it was held for its {@code holdAtMost}, however well it is renewed. */
  @Test
  @Warns("hold lost: HELD_TOO_LONG")
  void holdAtMost_endsTheHold() throws Exception {
    Events events = new Events();
    LockOptions most = LockOptions.builder()
        .leaseFor(briefLease().multipliedBy(6))
        .holdAtMost(briefLease().multipliedBy(2))
        .build();
    Hold hold = client(builder -> builder.listener(events)).lock(name, most).acquire();
    assertTrue(hold.remaining().compareTo(briefLease().multipliedBy(2)) <= 0);
    LockEvent.Lost lost = events.await(LockEvent.Lost.class, 1).get(0);
    assertEquals(LossReason.HELD_TOO_LONG, lost.reason());
    assertFalse(hold.isValid());
    try (Hold next = client().lock(name, LONG).acquire()) {
      assertTrue(next.token() > hold.token());
    }
  }

  /** A lease that the store cannot keep is refused at once, and what can be kept is said. */
  @Test
  void lock_leaseOutsideTheStoresRange_isRefused() {
    Holdfast holdfast = client();
    Guarantees guarantees = holdfast.guarantees();
    Duration tooShort = guarantees.shortestLease().dividedBy(2);
    if (!tooShort.isZero()) {
      LockOptions options = LockOptions.builder().leaseFor(tooShort).build();
      assertThrows(
          IllegalArgumentException.class, () -> holdfast.lock(name, options).name());
      assertThrows(
          IllegalArgumentException.class,
          () -> holdfast.lock(name).withOptions(options).name());
    }
    Duration tooLong = guarantees.longestLease().plusMillis(1);
    if (tooLong.compareTo(Duration.ofDays(3660)) < 0) {
      LockOptions options = LockOptions.builder().leaseFor(tooLong).build();
      assertThrows(
          IllegalArgumentException.class, () -> holdfast.lock(name, options).name());
    }
  }

  /** The shortest lease that the store claims to keep can be acquired. */
  @Test
  @MayWarn("hold lost: LEASE_ENDED")
  void shortestLease_works() throws Exception {
    Holdfast holdfast = client();
    LockOptions shortest = LockOptions.builder()
        .leaseFor(holdfast.guarantees().shortestLease())
        .renew(false)
        .build();
    Hold hold = holdfast.lock(name, shortest).acquire(PLENTY);
    assertTrue(hold.token() > 0);
    awaitNothingInStore();
  }
}
