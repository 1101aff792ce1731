// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.Tunnel;
import io.holdfast.testkit.zookeeper.ZooKeeperEnsemble;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The network falls silent: between a client and its server, and between the servers. */
@Timeout(120)
@Tag("all")
class NetworkFaultsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  /** A lease whose end a test waits for. */
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();

  /** The same, where something has to be seen before that. */
  private static final LockOptions NOT_SO_BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();

  /** How late a busy machine may make a timer; without a clock of our own the loss would never be told. */
  private static final Duration SLACK = Duration.ofSeconds(10);

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final Tunnel tunnel = new Tunnel(server.port());
  private final String root = "/network/" + ROOTS.incrementAndGet();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    tunnel.heal();
    for (AutoCloseable each : opened) {
      each.close();
    }
    tunnel.close();
  }

  private Holdfast client(String servers) {
    Holdfast client = ZooKeeperUnderTest.patient()
        .store("zookeeper://" + servers + root + "?holdfast.tick=" + ZooKeeperServer.TICK_MILLIS
            + "ms")
        .storeRetryFor(Duration.ofSeconds(100))
        .build();
    opened.add(client);
    return client;
  }

  private Holdfast tunnelled() {
    return client("127.0.0.1:" + tunnel.port());
  }

  private CuratorFramework curator() {
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
    curator.start();
    opened.add(curator);
    return curator;
  }

  /** What is in a lock's folder; nothing if there is none. */
  private List<String> nodes(CuratorFramework curator, String name) {
    try {
      return curator.getChildren().forPath(new ZooKeeperPaths(root).folder(LockKey.of(name)));
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** The client that holds is cut off: its hold ends by its own clock before another one has the lock, and it comes back. */
  @Test
  @Warns("lock=a .*hold lost")
  void holderCutOff_losesBeforeTheNextOne() throws Exception {
    Holdfast cut = tunnelled();
    Hold hold = cut.lock("a", NOT_SO_BRIEF).acquire();
    Holdfast other = client(server.address());
    CompletableFuture<HoldState> whenGranted = other.lock("a").acquireAsync().thenApply(next -> {
      HoldState state = hold.state();
      assertTrue(next.token() > hold.token());
      next.close();
      return state;
    });
    Await.until(
        "it waits", () -> other.admin().inspect("a").orElseThrow().waiters().known() == 1);
    tunnel.stall();
    assertEquals(HoldState.LOST, await(whenGranted));
    tunnel.heal();
    Hold again = await(cut.lock("a").acquireAsync());
    assertTrue(again.token() > hold.token());
    assertTrue(again.release());
  }

  /**
   * The server hears everything and says nothing, so that the session lives on: the hold is at risk and then lost when
   * its time is over by our own clock, and nothing that comes later changes that.
   */
  @Test
  @Warns("lock=a .*hold lost")
  void noSignOfLife_isAtRiskAndThenLostInTime() throws Exception {
    List<HoldState> told = new CopyOnWriteArrayList<>();
    CompletableFuture<Long> lostAt = new CompletableFuture<>();
    Holdfast mine = ZooKeeperUnderTest.patient()
        .store("zookeeper://127.0.0.1:" + tunnel.port() + root + "?holdfast.tick=1s")
        .listener(event -> {
          if (event instanceof LockEvent.AtRisk) {
            told.add(HoldState.AT_RISK);
          } else if (event instanceof LockEvent.Lost) {
            told.add(HoldState.LOST);
            lostAt.complete(Ticker.system().nanos());
          }
        })
        .build();
    opened.add(mine);
    Hold hold = mine.lock("a", NOT_SO_BRIEF).acquire();
    tunnel.stallReplies();
    long before = Ticker.system().nanos();
    Duration left = hold.remaining();
    long late = await(lostAt) - before - left.toNanos();
    assertEquals(List.of(HoldState.AT_RISK, HoldState.LOST), told);
    assertTrue(late < SLACK.toNanos(), () -> Duration.ofNanos(late) + " too late");
    assertEquals(
        LossReason.LEASE_ENDED,
        assertThrows(HoldLostException.class, hold::ensureValid).reason());
    tunnel.heal();
    Hold again = await(mine.lock("a").acquireAsync());
    assertEquals(HoldState.LOST, hold.state());
    assertTrue(again.token() > hold.token());
    assertTrue(again.release());
  }

  /**
   * The server makes the node, and nobody hears of it; the connection breaks. Back in the same session, the claim finds
   * its node by its name and has the lock with it: a second node would wait for the first for ever.
   */
  @Test
  void lostReply_theNodeIsFoundAgain() throws Exception {
    CuratorFramework curator = curator();
    Holdfast mine = tunnelled();
    // its folder is there, and so is the session for the lease
    mine.lock("a").acquire().close();
    tunnel.stallReplies();
    CompletableFuture<Hold> asked = mine.lock("a").acquireAsync();
    Await.until("the server has the node", () -> nodes(curator, "a").size() == 1);
    String node = nodes(curator, "a").get(0);
    tunnel.drop();
    tunnel.heal();
    Hold hold = await(asked);
    assertEquals(List.of(node), nodes(curator, "a"));
    long czxid = curator
        .checkExists()
        .forPath(new ZooKeeperPaths(root).folder(LockKey.of("a")) + "/" + node)
        .getCzxid();
    assertEquals(czxid << 8, hold.token());
    Await.until("it is held", () -> hold.state() == HoldState.HELD);
    assertTrue(hold.release());
    assertTrue(nodes(curator, "a").isEmpty());
  }

  /** The same, but nobody wants the lock any more: nothing of it stays. */
  @Test
  void lostReply_andWithdrawn_leavesNothing() throws Exception {
    CuratorFramework curator = curator();
    Holdfast mine = tunnelled();
    mine.lock("a").acquire().close();
    tunnel.stallReplies();
    CompletableFuture<Hold> asked = mine.lock("a").acquireAsync();
    Await.until("the server has the node", () -> nodes(curator, "a").size() == 1);
    asked.cancel(false);
    tunnel.drop();
    tunnel.heal();
    Await.until("nothing is left", () -> nodes(curator, "a").isEmpty());
    Hold hold = await(client(server.address()).lock("a").acquireAsync());
    assertTrue(hold.release());
  }

  /** A request that the network delivers late, after it was withdrawn: the withdrawal comes after it, on the same way. */
  @Test
  void lateRequest_isWithdrawn() throws Exception {
    CuratorFramework curator = curator();
    Holdfast mine = tunnelled();
    mine.lock("a").acquire().close();
    tunnel.stall();
    CompletableFuture<Hold> asked = mine.lock("a").acquireAsync();
    asked.cancel(false);
    tunnel.heal();
    Hold hold = await(client(server.address()).lock("a").acquireAsync());
    Await.until("only the holder is left", () -> nodes(curator, "a").size() == 1);
    assertTrue(hold.release());
  }

  /**
   * A follower is cut off from the others, but not from its clients, whose reads it goes on answering for a time: none
   * of that counts. Their holds end before the others end their sessions; it grants nothing, and the majority serves
   * its own clients. Left alone later, it may only be read.
   */
  @Test
  @Warns("lock=a .*hold lost")
  void minorityCutOff_grantsNothing() throws Exception {
    try (ZooKeeperEnsemble ensemble =
        ZooKeeperEnsemble.ofThreeWithTunnels("-Dreadonlymode.enabled=true")) {
      ZooKeeperServer cut =
          ensemble.servers().stream().filter(each -> !each.leads()).findFirst().orElseThrow();
      String others = ensemble.servers().stream()
          .filter(each -> each != cut)
          .map(ZooKeeperServer::address)
          .reduce((one, other) -> one + "," + other)
          .orElseThrow();
      Holdfast minority = client(cut.address());
      Hold hold = minority.lock("a", NOT_SO_BRIEF).acquire();
      Holdfast majority = client(others);
      CompletableFuture<HoldState> whenGranted = majority
          .lock("a", BRIEF)
          .acquireAsync()
          .thenApply(next -> {
            HoldState state = hold.state();
            next.close();
            return state;
          });
      Await.until(
          "it waits",
          () -> majority.admin().inspect("a").orElseThrow().waiters().known() == 1);
      ensemble.cutOff(cut);
      assertEquals(HoldState.LOST, await(whenGranted));
      assertThrows(
          StoreUnavailableException.class,
          () -> minority.lock("b", NOT_SO_BRIEF).tryAcquire().isPresent());
      assertFalse(hold.isValid());
      try (Hold served = majority.lock("b").acquire()) {
        assertTrue(served.isValid());
      }
      ensemble.heal();
      Hold again = await(minority.lock("a").acquireAsync());
      assertTrue(again.token() > hold.token());
      assertTrue(again.release());
      ensemble.servers().stream().filter(each -> each != cut).forEach(ZooKeeperServer::kill);
      Await.until("it may only be read", () -> cut.ask("srvr").contains("read-only"));
      assertEquals(Level.PROBLEM, ServerReport.srvr("cut", cut.ask("srvr")).level());
      assertThrows(
          StoreUnavailableException.class,
          () -> minority.lock("c", NOT_SO_BRIEF).tryAcquire().isPresent());
      opened.forEach(NetworkFaultsTest::closeNow);
      opened.clear();
    }
  }

  private static void closeNow(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** As {@link Await#value}, but for as long as a session. */
  private static <T> T await(CompletableFuture<T> future) {
    return future.orTimeout(100, TimeUnit.SECONDS).join();
  }
}
