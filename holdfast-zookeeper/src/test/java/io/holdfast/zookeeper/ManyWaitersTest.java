// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Tunnel;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Ten thousand wait for one lock in one process. A list of as many nodes would not fit into an answer of the server ({@code
 * jute.maxbuffer}, a megabyte); most of them wait in the process instead.
 */
@Timeout(120)
@Tag("stores")
class ManyWaitersTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();
  private static final int WAITERS = 10_000;
  private static final int FAIR_CLAIMS = 256;

  /** A waiter is refreshed once in this time. */
  private static final Duration REFRESH = ZooKeeperGuarantees.WAITER_LEASE.dividedBy(3);

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/many/" + ROOTS.incrementAndGet();

  @Test
  void plainWaiters_shareANode() throws Exception {
    assertEquals(2, nodesOf(LockOptions.defaults()));
  }

  @Test
  void fairWaiters_haveNodesUpToALimit() throws Exception {
    assertEquals(1 + FAIR_CLAIMS, nodesOf(LockOptions.builder().fair(true).build()));
  }

  /** Lets ten thousand wait, counts the nodes, serves a few, and has the rest withdraw. */
  private int nodesOf(LockOptions options) throws Exception {
    String uri = "zookeeper://" + server.address() + root;
    LockKey key = LockKey.of("a");
    String folder = new ZooKeeperPaths(root).folder(key);
    try (CuratorFramework curator =
            CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
        Holdfast holder = patient(uri);
        Holdfast crowd = patient(uri)) {
      curator.start();
      Hold hold = holder.lock("a").acquire();
      List<CompletableFuture<Hold>> waiters = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        waiters.add(crowd.lock("a", options).acquireAsync(Duration.ofMinutes(5)));
      }
      int expected = options.fair() ? 1 + FAIR_CLAIMS : 2;
      Await.until(
          "all that may have a node have one",
          () -> holder.admin().inspect("a").orElseThrow().waiters().known() >= expected - 1);
      int nodes = curator.getChildren().forPath(folder).size();
      assertTrue(hold.release());
      long last = hold.token();
      for (int i = 0; i < 20; i++) {
        Hold next = waiters.get(i).orTimeout(60, TimeUnit.SECONDS).join();
        assertTrue(next.token() > last);
        last = next.token();
        assertTrue(next.release());
      }
      assertTrue(curator.getChildren().forPath(folder).size() <= expected);
      // the last ones first, so that nobody comes to a node who is about to leave
      Collections.reverse(waiters);
      for (CompletableFuture<Hold> each : waiters) {
        if (!each.cancel(false)) {
          each.thenAccept(Hold::close).join();
        }
      }
      Await.until("nobody is left", () -> isEmpty(curator, folder));
      return nodes;
    }
  }

  /**
   * Four processes with as many waiters as may have a node: while nothing changes, a waiter's refresh is one short answer, and
   * not a list of all of them, which would be 45 MB a second here.
   */
  @Test
  void waitersInALongQueue_readLittle() throws Exception {
    LockOptions fair = LockOptions.builder().fair(true).build();
    List<Holdfast> crowd = new ArrayList<>();
    List<CompletableFuture<Hold>> waiters = new ArrayList<>();
    try (Holdfast holder = patient("zookeeper://" + server.address() + root);
        Tunnel tunnel = new Tunnel(server.port())) {
      Hold hold = holder.lock("a").acquire();
      try {
        for (int i = 0; i < 4; i++) {
          Holdfast each = patient("zookeeper://127.0.0.1:" + tunnel.port() + root);
          crowd.add(each);
          for (int j = 0; j < FAIR_CLAIMS; j++) {
            waiters.add(each.lock("a", fair).acquireAsync(Duration.ofMinutes(5)));
          }
          int expected = waiters.size();
          Await.until(
              "all wait",
              () -> holder.admin().inspect("a").orElseThrow().waiters().known() == expected);
        }
        // one that comes, or comes again since its process stood still, reads the whole queue
        tunnel.awaitReplies(REFRESH.multipliedBy(4), 10_000, 100_000);
        assertTrue(hold.isValid());
      } finally {
        crowd.forEach(Holdfast::close);
      }
    }
  }

  private static Holdfast patient(String uri) {
    return Holdfast.builder().store(uri).requestTimeout(Duration.ofSeconds(20)).build();
  }

  private static boolean isEmpty(CuratorFramework curator, String folder) {
    try {
      return curator.getChildren().forPath(folder).isEmpty();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
