// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** P3: every grant of a name carries a token greater than those of all earlier grants. */
@MayWarn("garbage-collected") // holds that a test lets go
abstract class TokenContract extends Contract {
  private long last;

  /** Again and again, as fast as it goes, by one client and by another in turn. */
  @Test
  void token_afterRelease_grows() throws Exception {
    List<DistributedLock> locks = List.of(client().lock(name), client().lock(name));
    for (int i = 0; i < 40; i++) {
      try (Hold hold = locks.get(i % 7 / 5).acquire()) {
        assertGrown(hold);
      }
    }
  }

  /** A client that came and went leaves its successors greater tokens. */
  @Test
  void token_afterTheClientWasClosed_grows() throws Exception {
    for (int i = 0; i < 5; i++) {
      try (Holdfast holdfast = client()) {
        assertGrown(holdfast.lock(name).acquire());
      }
    }
  }

  /** An expired hold's successor has a greater token. */
  @Test
  void token_afterExpiry_grows() throws Exception {
    DistributedLock first = client().lock(name, brief());
    DistributedLock second = client().lock(name, brief());
    assertGrown(first.acquire());
    assertGrown(second.acquire());
    assertGrown(first.acquire());
  }

  /** An evicted hold's successor has a greater token. */
  @Test
  void token_afterForceRelease_grows() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    assertGrown(lock.acquire());
    assertTrue(observer().admin().forceRelease(inStore().orElseThrow()));
    try (Hold hold = client().lock(name, LONG).acquire()) {
      assertGrown(hold);
    }
  }

  /** Waits that were given up in between do not disturb the order. */
  @Test
  void token_afterWithdrawals_grows() throws Exception {
    DistributedLock lock = client().lock(name, LONG);
    DistributedLock other = client().lock(name, LONG);
    for (int i = 0; i < 3; i++) {
      Hold hold = lock.acquire();
      assertGrown(hold);
      assertTrue(other.tryAcquire(Duration.ofMillis(20)).isEmpty());
      assertTrue(hold.release());
      try (Hold next = other.acquire()) {
        assertGrown(next);
      }
    }
  }

  /** Threads and clients that fight for it never see a token twice. The order is the oracle's business. */
  @Test
  void token_underContention_isNeverSeenTwice() {
    ConcurrentHashMap<Long, String> tokens = new ConcurrentHashMap<>();
    Oracle oracle = new Oracle();
    List<Task<?>> tasks = new ArrayList<>();
    for (int c = 0; c < 3; c++) {
      DistributedLock lock = client().lock(name, LONG);
      for (int t = 0; t < 2; t++) {
        String who = c + "/" + t;
        tasks.add(spawn(who, () -> {
          for (int i = 0; i < 20; i++) {
            try (Hold hold = lock.acquire()) {
              oracle.use(hold);
              assertEquals(null, tokens.putIfAbsent(hold.token(), who));
            }
          }
          return null;
        }));
      }
    }
    tasks.forEach(Task::get);
    assertEquals(120, tokens.size());
  }

  /** What the store shows is the hold's own token, but for hand-overs; and both are positive. */
  @Test
  void token_inTheStore_isTheHolds() throws Exception {
    try (Hold hold = client().lock(name, LONG).acquire()) {
      assertTrue(hold.token() > 0);
      assertEquals(hold.token(), inStore().orElseThrow().token());
    }
  }

  /** The token stays readable: after the release and after the loss. */
  @Test
  void token_afterTheEnd_staysReadable() throws Exception {
    Hold released = client().lock(name, LONG).acquire();
    long token = released.token();
    assertTrue(released.release());
    assertEquals(token, released.token());
    Hold lost = client().lock(name, brief()).acquire();
    long second = lost.token();
    Await.until("the hold is lost", () -> !lost.isValid());
    assertEquals(second, lost.token());
  }

  private void assertGrown(Hold hold) {
    assertTrue(hold.token() > last, () -> hold.token() + " after " + last);
    last = hold.token();
  }
}
