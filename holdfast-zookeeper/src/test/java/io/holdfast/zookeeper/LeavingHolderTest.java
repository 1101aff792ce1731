// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A claim comes while the holder is leaving: it has seen the holder's node, and finds none to watch. */
@Timeout(120)
@Tag("stores")
class LeavingHolderTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/leaving/" + ROOTS.incrementAndGet();
  private final String uri = "zookeeper://" + server.address() + root;
  private final HookedClients clients = HookedClients.at(uri);

  /** Its own node was made a moment ago, as a majority knows: the lock is its own as of then, and nobody is asked again. */
  @Test
  void isGranted_asOfTheLastWordOfAMajority() {
    try (StoreByHand a = new StoreByHand("a", ZooKeeperStore.at(StoreAddress.parse(uri)));
        StoreByHand b = new StoreByHand("b", clients.store(uri))) {
      Claim holder = a.claim("a");
      long before = a.granted(holder).revision();
      Moment made = b.now();
      clients.beforeWatch(() -> {
        a.end(holder, Duration.ZERO);
        b.forward(Duration.ofSeconds(2));
      });
      Grant grant = b.granted(b.claim("a"));
      assertTrue(grant.revision() > before);
      assertEquals(made, grant.anchor());
      assertEquals(0, clients.agreements());
    }
  }

  /** If that is too long ago, a majority is asked: a server that is cut off does not know whether we are still there. */
  @Test
  void isGrantedLater_byAMajority() {
    try (StoreByHand a = new StoreByHand("a", ZooKeeperStore.at(StoreAddress.parse(uri)));
        StoreByHand b = new StoreByHand("b", clients.store(uri))) {
      Claim holder = a.claim("a");
      a.granted(holder);
      clients.beforeWatch(() -> {
        a.end(holder, Duration.ZERO);
        b.forward(Duration.ofSeconds(3));
      });
      Grant grant = b.granted(b.claim("a"));
      assertEquals(b.now(), grant.anchor());
      assertEquals(1, clients.agreements());
    }
  }

  /** The holder has left, and keeps the lock. */
  @Test
  void isNotGranted_whatIsKept() {
    try (StoreByHand a = new StoreByHand("a", ZooKeeperStore.at(StoreAddress.parse(uri)));
        StoreByHand b = new StoreByHand("b", clients.store(uri))) {
      Claim holder = a.claim("a");
      a.granted(holder);
      clients.beforeWatch(() -> a.end(holder, Duration.ofMinutes(5)));
      b.busy(b.claim("a"), Mode.QUEUE);
    }
  }

  /** The holder had begun to keep the lock before it was watched, so that its deletion alone says nothing. */
  @Test
  void isNotGranted_byTheDeletionOfAChangedNode() throws Exception {
    try (StoreByHand a = new StoreByHand("a", ZooKeeperStore.at(StoreAddress.parse(uri)));
        StoreByHand b = new StoreByHand("b", clients.store(uri));
        CuratorFramework curator =
            CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100))) {
      curator.start();
      Claim holder = a.claim("a");
      a.granted(holder);
      String folder = new ZooKeeperPaths(root).folder(LockKey.of("a"));
      String node = folder + "/" + curator.getChildren().forPath(folder).get(0);
      curator.setData().forPath(node, curator.getData().forPath(node));
      Claim waiter = b.claim("a");
      b.busy(waiter, Mode.QUEUE);
      a.end(holder, Duration.ZERO);
      b.awaitLookAgain(waiter);
      b.granted(waiter);
    }
  }
}
