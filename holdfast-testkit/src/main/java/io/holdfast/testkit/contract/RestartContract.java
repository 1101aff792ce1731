// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Guarantee;
import io.holdfast.Hold;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** P1 and P3 across a restart of the store, as far as it declares them. */
@ResourceLock(StoreContract.SHARED)
abstract class RestartContract extends Contract {
  private static final Duration SHORT_LEASE = Duration.ofSeconds(2);

  /** A restart between two grants does not make tokens small again. */
  @Test
  void restart_tokensGrow() throws Exception {
    long last = 0;
    for (int i = 0; i < 3; i++) {
      Hold hold = client().lock(name, LONG).acquire();
      if (gives(Guarantee.TOKENS_SURVIVE_RESTART)) {
        assertTrue(hold.token() > last);
      }
      last = hold.token();
      assertTrue(hold.release());
      closeClients();
      store().restart();
    }
  }

  /** A hold whose client died before the restart is still a hold after it, until its lease ends. */
  @Test
  void restart_holdsStay() throws Exception {
    Duration lease = SHORT_LEASE;
    Duration took = lookAfterARestart(lease);
    while (took.compareTo(lease) >= 0) {
      lease = took.multipliedBy(3);
      took = lookAfterARestart(lease);
    }
  }

  /** Looks for a dead holder's lock after a restart. Returns how long that took: longer than the lease, it shows nothing. */
  private Duration lookAfterARestart(Duration lease) throws Exception {
    mayWarn("hold lost: LEASE_ENDED");
    Faulty faulty = faulty();
    LockOptions options = LockOptions.builder().leaseFor(lease).renew(false).build();
    long before = nanoTime();
    Hold hold = faulty.lock(name, options).acquire(PLENTY);
    faulty.faults().goSilent();
    closeClients();
    store().restart();
    try (var holdfast = client()) {
      boolean stays = gives(holdfast.guarantees().given(), Guarantee.HOLDS_SURVIVE_RESTART);
      boolean taken = holdfast.admin().inspect(name).filter(LockInfo::isTaken).isPresent();
      boolean refused = !taken || isRefused(holdfast.lock(name, LONG));
      Duration took = stays ? Duration.ofNanos(nanoTime() - before) : Duration.ZERO;
      if (stays && took.compareTo(lease) < 0) {
        assertTrue(taken);
        assertTrue(refused);
      }
      boolean isWaitedOut = lease.compareTo(SHORT_LEASE) <= 0;
      if (!isWaitedOut) {
        // the store takes long to restart, and this as many times as long
        holdfast.admin().inspect(name).ifPresent(info -> holdfast.admin().forceRelease(info));
      }
      try (Hold next = holdfast.lock(name, LONG).acquire()) {
        assertTrue(!isWaitedOut || !hold.isValid());
        assertTrue(next.token() > hold.token());
      }
      return took;
    }
  }

  /** A kept lock stays kept. */
  @Test
  void restart_keptLocksStayKept() throws Exception {
    LockOptions kept = LONG.toBuilder().holdAtLeast(Duration.ofMinutes(30)).build();
    client().lock(name, kept).acquire().close();
    closeClients();
    store().restart();
    try (var holdfast = client()) {
      LockInfo info = holdfast.admin().inspect(name).orElseThrow();
      assertTrue(info.keptUntil().isPresent());
      assertEquals(name, info.name());
      assertTrue(holdfast.lock(name, LONG).tryAcquire().isEmpty());
      assertTrue(holdfast.admin().forceRelease(info));
    }
  }

  private boolean gives(Guarantee guarantee) {
    try (var holdfast = client()) {
      return gives(holdfast.guarantees().given(), guarantee);
    }
  }

  private static boolean gives(Set<Guarantee> given, Guarantee guarantee) {
    return given.contains(guarantee);
  }
}
