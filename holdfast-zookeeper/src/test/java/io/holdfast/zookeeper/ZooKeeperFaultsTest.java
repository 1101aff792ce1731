// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What sessions, connections and an application's own client do to holds, on one server. */
@Timeout(120)
@SuppressWarnings("try") // a handle of ZooKeeper closes as it does
@Tag("all")
class ZooKeeperFaultsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/faults/" + ROOTS.incrementAndGet();
  private final ZooKeeperSettings settings = ZooKeeperSettings.defaults().withRoot(root);
  private CuratorFramework curator;
  private Holdfast mine;
  private Holdfast other;

  @BeforeEach
  void connect() throws Exception {
    curator =
        CuratorFrameworkFactory.newClient(server.address(), 40_000, 20_000, new RetryOneTime(100));
    curator.start();
    curator.blockUntilConnected();
    mine = ZooKeeperUnderTest.patient()
        .store(ZooKeeperStore.using(curator, settings))
        .build();
    other = connect(server.address() + root);
  }

  private static Holdfast connect(String address) {
    return ZooKeeperUnderTest.patient().store("zookeeper://" + address).build();
  }

  @AfterEach
  void close() {
    mine.close();
    other.close();
    curator.close();
  }

  /** The server ends the session, as if it had timed out: the hold is lost, and the next session inherits nothing. */
  @Test
  @Warns("lock=a .*hold lost")
  void sessionThatTheServerEnded_isLostAndNotInherited() throws Exception {
    Hold hold = mine.lock("a").acquire();
    long session = session();
    endOnTheServer();
    Await.until("the loss was told", () -> hold.state() == HoldState.LOST);
    HoldLostException lost = assertThrows(HoldLostException.class, hold::ensureValid);
    assertEquals(LossReason.SESSION_ENDED, lost.reason());
    Await.until("there is another session", () -> session() != session);
    try (Hold next = other.lock("a").acquire()) {
      assertTrue(next.token() > hold.token());
      assertFalse(hold.release());
      assertTrue(next.isValid());
      assertEquals(next.token(), other.admin().inspect("a").orElseThrow().token());
    }
  }

  /** Whoever waits in a session that ends gets in line anew, and has the lock in the end. */
  @Test
  void waiterWhoseSessionEnded_waitsOn() throws Exception {
    Hold hold = other.lock("a").acquire();
    CompletableFuture<Hold> waiter = mine.lock("a").acquireAsync();
    awaitWaiters(1);
    long session = session();
    endOnTheServer();
    Await.until("there is another session", () -> session() != session);
    awaitWaiters(1);
    assertTrue(hold.release());
    Hold next = Await.value(waiter);
    assertTrue(next.token() > hold.token());
    assertTrue(next.release());
  }

  /**
   * A session that the client alone gave up: the server still has its node, which must not be taken for the new
   * session's.
   */
  @Test
  @Warns("lock=a .*hold lost")
  void sessionThatTheClientEnded_isNotInherited() throws Exception {
    Hold hold = mine.lock("a").acquire();
    curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
    Await.until("the loss was told", () -> hold.state() == HoldState.LOST);
    Hold next = mine.lock("a").acquire();
    assertTrue(next.token() > hold.token());
    assertFalse(hold.release());
    assertTrue(next.isValid());
    assertTrue(other.lock("a").tryAcquire().isEmpty());
    assertTrue(next.release());
  }

  /** A node with the claim's own name but of another session is somebody else's. */
  @Test
  void claim_isFoundAgainInItsSessionOnly() {
    LockNode ours = node("q-" + "0".repeat(32) + "-7-1a-_0000000003");
    assertEquals(3, ours.sequence());
    assertEquals(0x1a, ours.session());
    assertFalse(ours.isLeaving());
    List<LockNode> queue = LockNode.queue(List.of(
        "q-x-1-2-_-2147483648", "kept-12", "q-x-2-2-_2147483647", "other", "t-x-3-2-4_2146435071"));
    assertEquals(
        List.of(2146435071, 2147483647, -2147483648),
        queue.stream().map(LockNode::sequence).toList());
    assertEquals(
        List.of(false, true, true),
        queue.stream().map(LockNode::isBeyondCounting).toList());
    assertTrue(queue.get(0).isLeaving());
  }

  private static LockNode node(String name) {
    return LockNode.parse(name).orElseThrow();
  }

  /** A connection that breaks puts holds at risk at once; back in the same session they are held again. */
  @Test
  void brokenConnection_isAtRiskThenHeldAgain() throws Exception {
    CompletableFuture<Boolean> atRisk = new CompletableFuture<>();
    mine.close();
    mine = ZooKeeperUnderTest.patient()
        .store(ZooKeeperStore.using(curator, settings))
        .listener(event -> {
          if (event instanceof LockEvent.AtRisk) {
            atRisk.complete(true);
          }
        })
        .build();
    Hold hold = mine.lock("a").acquire();
    long session = session();
    server.kill();
    // long before the half of a lease without a renewal
    assertTrue(atRisk.get(10, TimeUnit.SECONDS));
    server.start();
    Await.until("it is held again", () -> hold.state() == HoldState.HELD);
    assertEquals(session, session());
    assertTrue(hold.release());
  }

  /** What is evicted behind the back of the engine is noticed, and a try leaves nothing in the folder. */
  @Test
  void tries_leaveNothing() throws Exception {
    try (Hold hold = other.lock("a").acquire()) {
      for (int i = 0; i < 10; i++) {
        assertTrue(mine.lock("a").tryAcquire().isEmpty());
      }
      assertEquals(1, children("a").size());
      assertTrue(hold.isValid());
    }
    assertTrue(children("a").isEmpty());
    assertTrue(mine.lock("a").tryAcquire().orElseThrow().release());
  }

  /** The token is the number of the transaction that made the node. */
  @Test
  void token_isTheTransactionsNumber() throws Exception {
    try (Hold hold = mine.lock("a").acquire()) {
      String node = folder("a") + "/" + children("a").get(0);
      assertEquals(curator.checkExists().forPath(node).getCzxid() << 8, hold.token());
      assertEquals(session(), curator.checkExists().forPath(node).getEphemeralOwner());
    }
  }

  /** A client that we were given stays open, and its namespace is kept to. */
  @Test
  void givenClient_staysOpen() throws Exception {
    try (Holdfast spaced = ZooKeeperUnderTest.patient()
        .store(ZooKeeperStore.using(
            curator.usingNamespace(root.substring(1)),
            ZooKeeperSettings.defaults().withRoot("/inner")))
        .build()) {
      assertTrue(spaced.lock("a").acquire().release());
      assertTrue(mine.lock("a").acquire().release());
    }
    assertEquals(CuratorFrameworkState.STARTED, curator.getState());
    assertTrue(curator.checkExists().forPath(root + "/inner/format") != null);
  }

  /**
   * The application closes its client, and the server ends the session at once: the hold is over before the next one
   * begins.
   */
  @Test
  @Warns("lock=a .*hold lost")
  void givenClientClosed_losesBeforeTheNextOne() throws Exception {
    Hold hold = mine.lock("a").acquire();
    CompletableFuture<HoldState> whenGranted = other.lock("a").acquireAsync().thenApply(next -> {
      HoldState state = hold.state();
      next.close();
      return state;
    });
    awaitWaiters(1);
    curator.close();
    assertEquals(HoldState.LOST, Await.value(whenGranted));
    assertThrows(HoldLostException.class, hold::ensureValid);
  }

  /** A client with a namespace does not tell that it is closed. */
  @Test
  @Warns("lock=a .*hold lost")
  void namespacedClientClosed_isNoticed() throws Exception {
    try (Holdfast spaced = ZooKeeperUnderTest.patient()
        .store(ZooKeeperStore.using(
            curator.usingNamespace(root.substring(1)),
            ZooKeeperSettings.defaults().withRoot("/inner")))
        .build()) {
      Hold hold = spaced.lock("a").acquire();
      curator.close();
      Await.until("the loss was told", () -> hold.state() == HoldState.LOST);
    }
  }

  /** The application has its framework take another handle, of which Curator says little the first time and nothing later. */
  @Test
  @Warns("lock=a .*hold lost")
  void handleReplaced_isLostAndThereIsAnother() throws Exception {
    for (int i = 0; i < 3; i++) {
      Hold hold = Await.value(mine.lock("a").acquireAsync());
      curator.getZookeeperClient().reset();
      Await.until("the loss was told", () -> hold.state() == HoldState.LOST);
    }
    assertTrue(Await.value(mine.lock("a").acquireAsync()).release());
  }

  /** A session that is too short for the longest lease is refused at the start, with what to do. */
  @Test
  void sessionTooShort_isRefused() {
    ConfigurationException refused = assertThrows(
        ConfigurationException.class,
        () -> Holdfast.builder()
            .store(ZooKeeperStore.using(curator, settings.withLongestLease(Duration.ofSeconds(39))))
            .build()
            .close());
    assertTrue(String.valueOf(refused.getMessage()).contains("longestLease"), refused::toString);
  }

  /** A format that this version does not know is left alone. */
  @Test
  void newerFormat_isRefused() throws Exception {
    String newer = root + "-newer";
    curator
        .create()
        .creatingParentsIfNeeded()
        .forPath(newer + "/format", "2".getBytes(StandardCharsets.UTF_8));
    ConfigurationException refused = assertThrows(
        ConfigurationException.class,
        () -> Holdfast.connect("zookeeper://" + server.address() + newer).close());
    assertTrue(String.valueOf(refused.getMessage()).contains("format \"2\""), refused::toString);
  }

  /** With a login the nodes belong to who made them; somebody else is refused, at once. */
  @Test
  void login_keepsOthersOut() throws Exception {
    String address = server.address() + root + "-closed";
    try (Holdfast closed = connect("ann:s%40cret@" + address);
        Hold hold = closed.lock("a").acquire()) {
      assertTrue(hold.isValid());
      assertThrows(
          HoldfastException.class,
          () -> Holdfast.connect("zookeeper://" + address).close());
      try (Holdfast same = connect("ann:s%40cret@" + address)) {
        assertTrue(same.lock("a").tryAcquire().isEmpty());
      }
    }
  }

  /** A kept lock is not a waiter's when the holder's node goes: it waits on, until the time has come. */
  @Test
  void keptLock_isNotGrantedByTheDeletion() throws Exception {
    LockOptions kept = LockOptions.builder().holdAtLeast(Duration.ofMinutes(5)).build();
    Hold hold = other.lock("a", kept).acquire();
    CompletableFuture<Hold> waiter = mine.lock("a").acquireAsync();
    awaitWaiters(1);
    assertTrue(hold.release());
    Await.until(
        "it is kept", () -> other.admin().inspect("a").orElseThrow().keptUntil().isPresent());
    assertFalse(waiter.isDone());
    assertTrue(other.admin().forceRelease(other.admin().inspect("a").orElseThrow()));
    Hold next = Await.value(waiter);
    assertTrue(next.token() > hold.token());
    assertTrue(next.release());
  }

  /** What is not ours in a folder is left alone and counts for nothing. */
  @Test
  void strangersNodes_areLeftAlone() throws Exception {
    assertTrue(mine.lock("a").acquire().release());
    curator.create().creatingParentsIfNeeded().forPath(folder("a") + "/somebody-elses");
    try (Hold hold = other.lock("a").acquire()) {
      assertTrue(hold.isValid());
      assertEquals(0, mine.admin().inspect("a").orElseThrow().waiters().known());
    }
    assertEquals(List.of("somebody-elses"), children("a"));
  }

  private void awaitWaiters(int count) {
    Await.until(
        count + " wait",
        () -> other.admin().inspect("a").orElseThrow().waiters().known() == count);
  }

  private String folder(String name) {
    return new ZooKeeperPaths(root).folder(LockKey.of(name));
  }

  private List<String> children(String name) throws Exception {
    return curator.getChildren().forPath(folder(name));
  }

  private long session() {
    try {
      return curator.getZookeeperClient().getZooKeeper().getSessionId();
    } catch (Exception e) {
      // between two connections
      return 0;
    }
  }

  /** Takes part in the session, and ends it for all. */
  private void endOnTheServer() throws Exception {
    ZooKeeper ours = curator.getZookeeperClient().getZooKeeper();
    CompletableFuture<Boolean> connected = new CompletableFuture<>();
    try (ZooKeeper twin = new ZooKeeper(
        server.address(),
        40_000,
        event -> connected.complete(true),
        ours.getSessionId(),
        ours.getSessionPasswd())) {
      Await.value(connected);
      assertEquals(ours.getSessionId(), twin.getSessionId());
    }
  }
}
