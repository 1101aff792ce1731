// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The node of a waiter that was not refreshed for its lease is taken away, and is never granted and taken away. */
@Timeout(120)
@Tag("stores")
class OverdueTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final Duration OVERDUE = ZooKeeperGuarantees.WAITER_LEASE.plusSeconds(1);

  private final int port = ZooKeeperUnderTest.server().port();
  private final int number = ROOTS.incrementAndGet();

  /** With a tick that the looks at sessions have another delay from. */
  private LockStore at(int where) {
    return ZooKeeperStore.at(StoreAddress.parse(
        "zookeeper://127.0.0.1:" + where + "/overdue/" + number + "?holdfast.tick=400ms"));
  }

  @Test
  void forgotten_isTakenAway() {
    try (StoreByHand a = new StoreByHand("a", at(port));
        StoreByHand b = new StoreByHand("b", at(port))) {
      a.granted(a.claim("a"));
      Claim waiter = b.claim("a");
      b.busy(waiter, Mode.QUEUE);
      b.forward(OVERDUE);
      b.sweep();
      Await.until("it is gone", () -> b.keep(waiter) instanceof Kept.Gone);
    }
  }

  /** A look has shown that nobody can be overdue for a while, and then comes a lease that is shorter than that. */
  @Test
  void shortLease_isTakenAwayInItsTime() {
    Duration lease = Duration.ofSeconds(2);
    try (StoreByHand a = new StoreByHand("a", at(port))) {
      a.granted(a.claim("a"));
      a.sweep();
      Claim brief = a.claim("b", lease);
      a.granted(brief);
      a.forward(lease.minusMillis(1));
      a.sweep();
      assertInstanceOf(Kept.Held.class, a.keep(brief));
      a.forward(lease.plusMillis(1));
      a.sweep();
      Await.until("it is gone", () -> a.keep(brief) instanceof Kept.Gone);
    }
  }

  /** The claim is seen to be overdue, and granted before its turn to go has come. */
  @Test
  void grantedMeanwhile_stays() {
    try (StoreByHand a = new StoreByHand("a", at(port));
        StoreByHand b = new StoreByHand("b", at(port))) {
      Claim holder = a.claim("a");
      a.granted(holder);
      Claim waiter = b.claim("a");
      b.busy(waiter, Mode.QUEUE);
      b.forward(OVERDUE);
      a.end(holder, Duration.ZERO);
      b.awaitLookAgain(waiter);
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      b.whenAsked(() -> b.ask(waiter, Mode.QUEUE).thenAccept(answer::complete));
      b.sweep();
      long granted =
          assertInstanceOf(Answer.Granted.class, Await.value(answer)).grant().revision();
      // behind the turn in which it would have been taken away
      assertEquals(granted, b.granted(waiter).revision());
      assertInstanceOf(Kept.Held.class, b.keep(waiter));
    }
  }

  /** Its delete is under way when the node ahead goes. */
  @Test
  void takenAway_isNotGranted() {
    try (Tunnel tunnel = new Tunnel(port);
        StoreByHand a = new StoreByHand("a", at(port));
        StoreByHand b = new StoreByHand("b", at(tunnel.port()))) {
      Claim holder = a.claim("a");
      a.granted(holder);
      Claim waiter = b.claim("a");
      b.busy(waiter, Mode.QUEUE);
      Claim other = b.claim("b");
      b.granted(other);
      b.forward(OVERDUE);
      // the session is as fresh as can be
      assertInstanceOf(Kept.Held.class, b.keep(other));
      tunnel.stall();
      b.sweep();
      a.end(holder, Duration.ZERO);
      tunnel.heal();
      Await.until("it is gone", () -> b.keep(waiter) instanceof Kept.Gone);
      assertFalse(b.wasGranted(waiter), b.told::toString);
    }
  }
}
