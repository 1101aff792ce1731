// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An attempt whose turn comes too late, and ends that have to look for their claim's node. */
@Timeout(120)
@Tag("stores")
class RequestFatesTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private final int port = ZooKeeperUnderTest.server().port();
  private final String root = "/fates/" + ROOTS.incrementAndGet();

  private String uri(int where) {
    return "zookeeper://127.0.0.1:" + where + root;
  }

  private StoreByHand client(String id, int where) {
    return new StoreByHand(id, ZooKeeperStore.at(StoreAddress.parse(uri(where))));
  }

  private static Ended end(StoreByHand client, Claim claim) {
    return Await.value(client.store.end(claim, Duration.ZERO, Instant.MAX));
  }

  /** An attempt is in time when it is asked, and its turn comes when it is not: nothing is made of it. */
  @Test
  void attempt_whoseTurnComesTooLate_isNotMade() {
    HookedClients clients = HookedClients.at(uri(port));
    try (StoreByHand a = client("a", port);
        StoreByHand b = new StoreByHand("b", clients.store(uri(port)))) {
      a.granted(a.claim("a"));
      Claim claim = b.claim("a");
      CompletableFuture<Answer> late = new CompletableFuture<>();
      clients.beforeWatch(() -> {
        b.store.end(claim, Duration.ZERO, Instant.MAX);
        Instant giveUpAt = Instant.ofEpochMilli(b.wallMillis()).plusSeconds(1);
        b.store.attempt(claim, Mode.QUEUE, giveUpAt).thenAccept(late::complete);
        b.forward(Duration.ofSeconds(2));
      });
      b.busy(claim, Mode.QUEUE);
      assertInstanceOf(Answer.Late.class, Await.value(late));
      assertEquals(Ended.Outcome.NOT_THERE, end(b, claim).outcome());
    }
  }

  /**
   * The answer to an attempt is lost. Its node is found and goes, and the holder's stays; but until the session would
   * have ended, a copy could still come, and the end is not the last word.
   */
  @Test
  void end_afterALostAnswer_isNotFinalBeforeTheSessionsTime() {
    try (Tunnel tunnel = new Tunnel(port);
        StoreByHand a = client("a", port);
        StoreByHand b = client("b", tunnel.port())) {
      Claim holder = a.claim("a");
      a.granted(holder);
      // the session for the lease is there
      b.granted(b.claim("b"));
      Claim claim = b.claim("a");
      tunnel.stallReplies();
      CompletableFuture<Answer> asked = b.ask(claim, Mode.QUEUE).toCompletableFuture();
      Await.until(
          "the server has the node",
          () -> a.keep(holder) instanceof Kept.Held held && held.grant().othersWait());
      tunnel.drop();
      tunnel.heal();
      assertFalse(assertInstanceOf(StoreException.class, Await.failure(asked)).notApplied());
      Await.until("it is connected again", () -> b.told.contains("restored"));
      Ended first = end(b, claim);
      assertEquals(new Ended(Ended.Outcome.WITHDRAWN, false, first.othersWait()), first);
      assertInstanceOf(Kept.Held.class, a.keep(holder));
      b.forward(Duration.ofMinutes(5));
      Ended second = end(b, claim);
      assertEquals(new Ended(Ended.Outcome.NOT_THERE, true, second.othersWait()), second);
    }
  }

  /**
   * The answer to an attempt is lost; the client finds its node and waits with it. Then the server applies a copy of the attempt.
   * The next attempt deletes the copy's node, which no claim would own, and behind which others would wait.
   */
  @Test
  void nodeOfACopy_isTakenAwayByTheNextAttempt() throws Exception {
    try (Tunnel tunnel = new Tunnel(port);
        StoreByHand a = client("a", port);
        StoreByHand b = client("b", tunnel.port());
        CuratorFramework curator =
            CuratorFrameworkFactory.newClient("127.0.0.1:" + port, new RetryOneTime(100))) {
      curator.start();
      Claim holder = a.claim("a");
      a.granted(holder);
      // the session for the lease is there
      b.granted(b.claim("b"));
      Claim claim = b.claim("a");
      tunnel.stallReplies();
      CompletableFuture<Answer> asked = b.ask(claim, Mode.QUEUE).toCompletableFuture();
      Await.until(
          "the server has the node",
          () -> a.keep(holder) instanceof Kept.Held held && held.grant().othersWait());
      tunnel.drop();
      tunnel.heal();
      Await.failure(asked);
      Await.until("it is connected again", () -> b.told.contains("restored"));
      b.busy(claim, Mode.QUEUE);
      String folder = new ZooKeeperPaths(root).folder(claim.name());
      String known = curator.getChildren().forPath(folder).stream()
          .filter(each -> each.contains(claim.id().toString()))
          .findFirst()
          .orElseThrow();
      String copy = curator
          .create()
          .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
          .forPath(folder + "/" + known.substring(0, known.lastIndexOf('_') + 1));
      b.busy(claim, Mode.QUEUE);
      Await.until("it is taken away", () -> !exists(curator, copy));
      assertTrue(curator.getChildren().forPath(folder).contains(known));
    }
  }

  /** The end of a claim that never came to the store: it finds nothing, and touches nobody else. */
  @Test
  void end_ofWhatNeverCame_touchesNobodyElse() {
    try (StoreByHand a = client("a", port);
        StoreByHand b = client("b", port)) {
      Claim holder = a.claim("a");
      a.granted(holder);
      Ended ended = end(b, b.claim("a"));
      assertEquals(new Ended(Ended.Outcome.NOT_THERE, true, ended.othersWait()), ended);
      assertInstanceOf(Kept.Held.class, a.keep(holder));
    }
  }

  private static boolean exists(CuratorFramework curator, String path) {
    try {
      return curator.checkExists().forPath(path) != null;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
