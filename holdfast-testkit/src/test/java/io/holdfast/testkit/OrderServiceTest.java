// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.AcquireUnknownException;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.log.MayWarn;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The extension, used as a user uses it: these are the examples of its documentation. */
@ExtendWith(HoldfastExtension.class)
@MayWarn("hold lost")
class OrderServiceTest {
  @Test
  void save_afterTheHoldWasLost_isRefused(Holdfast holdfast, Faults faults) {
    OrderService service = new OrderService(holdfast);
    service.begin("42");
    faults.loseHold("order:42");
    assertThrows(HoldLostException.class, service::save);
    assertEquals(List.of("stopped"), service.log());
  }

  /** The machine slept past the lease. */
  @Test
  void save_afterASuspend_isRefused(Holdfast holdfast, ManualClock clock) {
    OrderService service = new OrderService(holdfast);
    service.begin("42");
    clock.suspend(Duration.ofMinutes(5));
    assertThrows(HoldLostException.class, service::save);
    clock.advance(
        Duration.ofSeconds(1)); // nobody told the monotonic timer: it finds out within a second
    assertEquals(List.of("stopped"), service.log());
  }

  /** The store fell silent: first at risk, then lost, at the deadline and not a moment later. */
  @Test
  void silentStore_losesTheHoldInTime(Holdfast holdfast, Faults faults, ManualClock clock)
      throws Exception {
    Hold hold = holdfast.lock("job").acquire();
    faults.goSilent();
    clock.advance(Duration.ofSeconds(20));
    assertEquals(HoldState.AT_RISK, hold.state());
    assertTrue(hold.isValid());
    clock.advance(hold.remaining());
    assertEquals(HoldState.LOST, hold.state());
  }

  /** An operator evicted the holder, who learns of it at its next renewal. */
  @Test
  void evictedHold_isLostAtTheNextRenewal(Holdfast holdfast, Faults faults, ManualClock clock)
      throws Exception {
    Hold hold = holdfast.lock("job").acquire();
    faults.evict("job");
    assertTrue(hold.isValid());
    clock.advance(LockOptions.DEFAULT_LEASE.dividedBy(2));
    assertEquals(HoldState.LOST, hold.state());
  }

  /** Time alone does no harm: the lease is renewed as it passes. */
  @Test
  void hourOfWork_isRenewed(Holdfast holdfast, ManualClock clock) {
    OrderService service = new OrderService(holdfast);
    service.begin("42");
    clock.advance(Duration.ofHours(1));
    service.save();
    assertEquals(1, service.log().size());
  }

  @Test
  void tryBegin_whileARivalHasIt_isFalse(Holdfast holdfast, Rival rival) {
    OrderService service = new OrderService(holdfast);
    Hold theirs = rival.take("order:42");
    assertFalse(service.tryBegin("42"));
    theirs.close();
    assertTrue(service.tryBegin("42"));
    assertThrows(AssertionError.class, () -> rival.take("order:42").close());
  }

  /** A wait with a limit needs time that passes. */
  @Test
  void waitWithALimit_endsWhenTimePasses(Holdfast holdfast, Rival rival, ManualClock clock) {
    Hold theirs = rival.take("job");
    assertThrows(
        AcquireTimeoutException.class,
        () -> clock.whileTimePasses(() -> holdfast.lock("job").acquire(Duration.ofMinutes(1))));
    assertTrue(theirs.isValid());
    assertTrue(rival.holdfast().admin().inspect("job").orElseThrow().isTaken());
  }

  /** A granted lock whose answer was lost is not left behind. */
  @Test
  void lostAnswer_isUnknownAndTakenBack(Holdfast holdfast, Faults faults, ManualClock clock) {
    faults.on(Verb.ATTEMPT).once().loseReply();
    assertThrows(
        AcquireUnknownException.class,
        () -> clock.whileTimePasses(() -> holdfast.lock("job").tryAcquire()));
    clock.advance(Duration.ofSeconds(5));
    assertTrue(holdfast.admin().inspect("job").isEmpty());
  }

  /** A release that fails says so; the lock becomes free when the store is back. */
  @Test
  void failedRelease_goesOn(Holdfast holdfast, Faults faults, ManualClock clock, Rival rival)
      throws Exception {
    Hold hold = holdfast.lock("job").acquire();
    faults.on(Verb.END).fail();
    assertThrows(
        StoreUnavailableException.class, () -> clock.whileTimePasses(() -> hold.release()));
    faults.heal();
    clock.advance(Duration.ofSeconds(5));
    rival.take("job").close();
  }
}
