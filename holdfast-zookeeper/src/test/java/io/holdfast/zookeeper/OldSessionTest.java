// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The client alone gave its session up, and has another one: the server still has the old one's nodes, which are
 * nobody's.
 */
@Timeout(120)
@Tag("stores")
class OldSessionTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/old/" + ROOTS.incrementAndGet();
  private final CuratorFramework curator =
      CuratorFrameworkFactory.newClient(server.address(), 40_000, 20_000, new RetryOneTime(100));
  private StoreByHand client;

  @BeforeEach
  void connect() throws Exception {
    curator.start();
    assertTrue(curator.blockUntilConnected(60, TimeUnit.SECONDS));
    client = new StoreByHand(
        "a", ZooKeeperStore.using(curator, ZooKeeperSettings.defaults().withRoot(root)));
  }

  @AfterEach
  void close() {
    client.close();
    curator.close();
  }

  /**
   * The client is told of the end before its handle is closed, within the call: Curator, which closes the handle when it
   * hears of it, may be the quicker one, and then its good-bye reaches the server, which ends the session, too.
   */
  private void endTheSession() throws Exception {
    client.told.clear();
    curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
    Await.until("there is another session", () -> client.told.contains("restored"));
  }

  private List<String> nodes() throws Exception {
    return curator.getChildren().forPath(new ZooKeeperPaths(root).folder(LockKey.of("a")));
  }

  private List<String> nodesNow() {
    try {
      return nodes();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** A renewal on the new session finds the claim's node, and does not take it for its own. */
  @Test
  void hold_isNotRenewed() throws Exception {
    Claim holder;
    do {
      holder = client.claim("a");
      client.granted(holder);
      endTheSession();
      // until it ends for the client alone
    } while (nodes().isEmpty());
    assertTrue(
        client.told.contains("lost " + holder.id() + " SESSION_ENDED"), client.told::toString);
    assertInstanceOf(Kept.Gone.class, client.keep(holder));
  }

  /** The server still has the node, which would keep others out: it is taken away at the next look, however quiet it was. */
  @Test
  void hold_thatIsLost_isTakenAwayAtOnce() throws Exception {
    Claim holder;
    do {
      holder = client.claim("a");
      client.granted(holder);
      client.sweep();
      endTheSession();
    } while (nodes().isEmpty());
    client.forward(Duration.ofMillis(1));
    client.sweep();
    Await.until("it is gone", () -> nodesNow().isEmpty());
  }

  /** The same claim has another node in the same folder then: what was seen of the old one does not speak for it. */
  @Test
  void hold_thatIsAskedForAnew_isRenewedForItsOwn() throws Exception {
    Claim holder = client.claim("a");
    long before = client.granted(holder).revision();
    assertInstanceOf(Kept.Held.class, client.keep(holder));
    endTheSession();
    assertInstanceOf(Kept.Gone.class, client.keep(holder));
    long after = client.granted(holder).revision();
    assertTrue(after > before);
    assertEquals(
        after, assertInstanceOf(Kept.Held.class, client.keep(holder)).grant().revision());
    curator
        .delete()
        .forPath(
            new ZooKeeperPaths(root).folder(LockKey.of("a")) + "/" + nodes().get(0));
    assertInstanceOf(Kept.Gone.class, client.keep(holder));
  }

  /** Who waits gets in line anew, and is not behind its own old node. */
  @Test
  void waiter_leavesItsOldPlace() throws Exception {
    try (StoreByHand other = new StoreByHand(
        "b", ZooKeeperStore.at(StoreAddress.parse("zookeeper://" + server.address() + root)))) {
      other.granted(other.claim("a"));
      Claim waiter = client.claim("a");
      client.busy(waiter, Mode.QUEUE);
      endTheSession();
      client.busy(waiter, Mode.QUEUE);
      assertEquals(2, nodes().size());
    }
  }
}
