// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the store says and does by itself, without an engine that would ask again. */
@Timeout(120)
@Tag("stores")
class ZooKeeperVerbsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final LockKey NAME = LockKey.of("a");

  private final String uri =
      "zookeeper://" + ZooKeeperUnderTest.server().address() + "/verbs/" + ROOTS.incrementAndGet();

  /** A store, and what it has told. */
  private static final class Client implements StoreEvents, AutoCloseable {
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final String id;
    private final LockStore store;
    private int claims;

    Client(String id, String uri) {
      this.id = id.repeat(32);
      this.store = ZooKeeperStore.at(StoreAddress.parse(uri));
      store.start(
          new StoreRuntime(
              this.id,
              Ticker.system(),
              (task, delay) -> {
                var scheduled = CompletableFuture.runAsync(
                    task,
                    CompletableFuture.delayedExecutor(Math.max(0, delay), TimeUnit.NANOSECONDS));
                return () -> scheduled.cancel(false);
              },
              new Random(1),
              Duration.ofSeconds(2)),
          this);
      Await.value(store.connect());
    }

    Claim claim() {
      return new Claim(
          new ClaimId(id, ++claims),
          NAME,
          1,
          1,
          Duration.ofSeconds(30),
          false,
          new Holder("test", "here", 1, "main", ""));
    }

    Answer attempt(Claim claim) {
      return Await.value(store.attempt(claim, Mode.QUEUE, Instant.MAX));
    }

    Grant granted(Claim claim) {
      return assertInstanceOf(Answer.Granted.class, attempt(claim)).grant();
    }

    Ended end(Claim claim, Duration keepFor) {
      return Await.value(store.end(claim, keepFor, Instant.MAX));
    }

    void awaitTold(String what) {
      Await.until(what + " is told, not only " + told, () -> told.contains(what));
    }

    @Override
    public void granted(ClaimId claim, Grant grant) {
      told.add("granted " + claim + " " + grant.revision());
    }

    @Override
    public void lookAgain(ClaimId claim) {
      told.add("lookAgain " + claim);
    }

    @Override
    public void lookAgainAll() {
      told.add("lookAgainAll");
    }

    @Override
    public void disturbed() {
      told.add("disturbed");
    }

    @Override
    public void restored() {
      told.add("restored");
    }

    @Override
    public void lost(ClaimId claim, LossReason reason) {
      told.add("lost " + claim + " " + reason);
    }

    @Override
    public void close() {
      store.close();
    }
  }

  /**
   * The holder's deletion is the grant of the next one, who hears of it without asking; the third only moves up, and
   * is granted in its turn.
   */
  @Test
  void releases_wakeTheNextOne() {
    try (Client a = new Client("a", uri);
        Client b = new Client("b", uri)) {
      Claim first = a.claim();
      Claim second = b.claim();
      Claim third = a.claim();
      long before = a.granted(first).revision();
      assertInstanceOf(Answer.Busy.class, b.attempt(second));
      assertInstanceOf(Answer.Busy.class, a.attempt(third));
      assertEquals(Ended.Outcome.RELEASED, a.end(first, Duration.ZERO).outcome());
      Await.until("it is told", () -> !b.told.isEmpty());
      assertEquals(1, b.told.size());
      assertTrue(b.told.get(0).startsWith("granted " + second.id() + " "), b.told::toString);
      long revision = b.granted(second).revision();
      assertEquals("granted " + second.id() + " " + revision, b.told.get(0));
      assertTrue(revision > before);
      assertEquals(List.of(), a.told);
      assertEquals(Ended.Outcome.RELEASED, b.end(second, Duration.ZERO).outcome());
      a.awaitTold("lookAgain " + third.id());
      assertTrue(a.granted(third).revision() > revision);
    }
  }

  /** One that leaves the middle of the queue wakes the one behind it, who has not got the lock by that. */
  @Test
  void withdrawal_isNoGrant() {
    try (Client a = new Client("a", uri);
        Client b = new Client("b", uri)) {
      Claim first = a.claim();
      Claim second = b.claim();
      Claim third = a.claim();
      a.granted(first);
      assertInstanceOf(Answer.Busy.class, b.attempt(second));
      assertInstanceOf(Answer.Busy.class, a.attempt(third));
      assertEquals(Ended.Outcome.WITHDRAWN, b.end(second, Duration.ZERO).outcome());
      a.awaitTold("lookAgain " + third.id());
      assertInstanceOf(Answer.Busy.class, a.attempt(third));
      assertEquals(List.of("lookAgain " + third.id()), a.told);
    }
  }

  /** Whoever keeps the lock deletes its node, too, and that is no grant. */
  @Test
  void keptLock_isNoGrant() {
    try (Client a = new Client("a", uri);
        Client b = new Client("b", uri)) {
      Claim first = a.claim();
      Claim second = b.claim();
      a.granted(first);
      assertInstanceOf(Answer.Busy.class, b.attempt(second));
      assertEquals(Ended.Outcome.RELEASED, a.end(first, Duration.ofMinutes(5)).outcome());
      b.awaitTold("lookAgain " + second.id());
      assertInstanceOf(Answer.Busy.class, b.attempt(second));
      assertTrue(b.told.stream().noneMatch(each -> each.startsWith("granted")), b.told::toString);
    }
  }

  /** The same claim in the name, but another session: not ours. */
  @Test
  void node_isItsSessions() {
    ClaimId id = new ClaimId("0".repeat(32), 7);
    LockNode old =
        LockNode.parse(LockNode.nameFor(id, 0x1a, false, -1) + "0000000003").orElseThrow();
    LockNode ours =
        LockNode.parse(LockNode.nameFor(id, 0x1b, false, -1) + "0000000004").orElseThrow();
    assertTrue(ours.isOf(id, 0x1b));
    assertFalse(old.isOf(id, 0x1b));
    assertFalse(ours.isOf(new ClaimId("0".repeat(32), 8), 0x1b));
    assertEquals(ours, LockNode.at("/folder/" + ours.name(), List.of(old, ours)));
    assertNull(LockNode.at("/folder/" + ours.name(), List.of(old)));
  }
}
