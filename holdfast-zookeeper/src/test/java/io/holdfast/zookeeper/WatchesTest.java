// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What many claims leave behind while a session lives on, and how many it may have. */
@Timeout(120)
@Tag("stores")
class WatchesTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final int CLAIMS = 200;

  /** Their paths, of more than two hundred letters each, come to more than the megabyte that a client takes. */
  private static final int NODES = 6_400;

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/watches/" + ROOTS.incrementAndGet();
  private final String uri = "zookeeper://" + server.address() + root;

  /** Claims come and go behind a holder, and behind a kept lock. */
  @Test
  void endedClaims_leaveNoWatchesAndNoTimers() {
    HookedClients clients = HookedClients.at(uri);
    try (StoreByHand a = new StoreByHand("a", ZooKeeperStore.at(StoreAddress.parse(uri)));
        StoreByHand b = new StoreByHand("b", clients.store(uri))) {
      Claim holder = a.claim("a");
      a.granted(holder);
      comeAndGo(b);
      assertEquals(List.of(1), clients.watchers());
      assertEquals(Ended.Outcome.RELEASED, a.end(holder, Duration.ofMinutes(5)));
      int timers = b.waiting();
      for (int i = 0; i < CLAIMS; i++) {
        b.busy(b.claim("a"), Mode.TRY);
      }
      assertEquals(List.of(1), clients.watchers());
      assertEquals(timers, b.waiting());
      comeAndGo(b);
      assertEquals(List.of(1, 1), clients.watchers());
      assertEquals(timers, b.waiting());
      // whoever waits is told by both
      Claim waiter = b.claim("a");
      b.busy(waiter, Mode.QUEUE);
      b.busy(waiter, Mode.QUEUE);
      assertEquals(timers + 1, b.waiting());
      LockKey key = LockKey.of("a");
      long revision = Await.value(a.store.inspect(key)).orElseThrow().token() >> 8;
      Await.value(a.store.evict(key, revision));
      b.awaitLookAgain(waiter);
      b.granted(waiter);
      assertEquals(timers, b.waiting());
    }
  }

  private static void comeAndGo(StoreByHand client) {
    for (int i = 0; i < CLAIMS; i++) {
      Claim claim = client.claim("a");
      client.busy(claim, Mode.QUEUE);
      assertEquals(Ended.Outcome.WITHDRAWN, client.end(claim, Duration.ZERO));
    }
  }

  /** A session has so many nodes that a list of their paths fits into no answer. */
  @Test
  void nodesOfACrowd_areListed() throws Exception {
    try (CuratorFramework curator = CuratorFrameworkFactory.newClient(
        server.address(), 40_000, 20_000, new RetryOneTime(100))) {
      curator.start();
      ZooKeeperSettings settings = ZooKeeperSettings.defaults().withRoot(root);
      try (StoreByHand client = new StoreByHand("a", ZooKeeperStore.using(curator, settings))) {
        ZooKeeper handle = curator.getZookeeperClient().getZooKeeper();
        CountDownLatch made = new CountDownLatch(NODES);
        AtomicInteger failed = new AtomicInteger();
        ZooKeeperPaths paths = new ZooKeeperPaths(root);
        for (int bucket = 0; bucket < ZooKeeperPaths.BUCKETS; bucket++) {
          String folder = paths.bucket(bucket) + "/" + "n".repeat(110);
          create(handle, paths.bucket(bucket), CreateMode.PERSISTENT, (rc, path, ctx, name) -> {});
          create(handle, folder, CreateMode.PERSISTENT, (rc, path, ctx, name) -> {});
          for (int i = 0; i < NODES / ZooKeeperPaths.BUCKETS; i++) {
            ClaimId id = new ClaimId(client.id, 1_000_000L + bucket * 1000L + i);
            String node = LockNode.nameFor(id, handle.getSessionId(), false, -1);
            create(
                handle,
                folder + "/" + node,
                CreateMode.EPHEMERAL_SEQUENTIAL,
                (rc, path, ctx, name) -> {
                  failed.addAndGet(Math.abs(rc));
                  made.countDown();
                });
          }
        }
        made.await(60, TimeUnit.SECONDS);
        assertEquals(0, failed.get());
        assertEquals(NODES, Await.value(client.store.own()).size());
        assertEquals(List.of(), client.told);
      }
    }
  }

  private static void create(
      ZooKeeper handle,
      String path,
      CreateMode mode,
      org.apache.zookeeper.AsyncCallback.StringCallback made) {
    handle.create(path, new byte[] {'a'}, ZooDefs.Ids.OPEN_ACL_UNSAFE, mode, made, null);
  }
}
