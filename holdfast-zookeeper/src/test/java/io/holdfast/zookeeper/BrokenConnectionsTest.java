// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.process.Tunnel;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens while a connection is gone that comes back in the same session. */
@Timeout(120)
@Tag("stores")
class BrokenConnectionsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final Tunnel tunnel = new Tunnel(server.port());
  private final String root = "/broken/" + ROOTS.incrementAndGet();
  private final String folder = new ZooKeeperPaths(root).folder(LockKey.of("a"));
  private final String direct = "zookeeper://" + server.address() + root;
  private final String tunnelled = "zookeeper://127.0.0.1:" + tunnel.port() + root;
  private CuratorFramework curator;

  @BeforeEach
  void connect() {
    curator = CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
    curator.start();
  }

  @AfterEach
  void close() {
    curator.close();
    tunnel.close();
  }

  private List<String> nodes() {
    try {
      return curator.getChildren().forPath(folder);
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private String marker() {
    return folder + "/" + ZooKeeperPaths.markerIn(nodes()).orElseThrow();
  }

  /** An application's client, connected through the tunnel. */
  private CuratorFramework given() throws InterruptedException {
    CuratorFramework given = CuratorFrameworkFactory.newClient(
        "127.0.0.1:" + tunnel.port(), 40_000, 20_000, new RetryOneTime(100));
    given.start();
    assertTrue(given.blockUntilConnected(60, TimeUnit.SECONDS));
    return given;
  }

  private Holdfast using(CuratorFramework given) {
    return Holdfast.builder()
        .store(ZooKeeperStore.using(given, ZooKeeperSettings.defaults().withRoot(root)))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build();
  }

  /** The holder keeps the lock while the next one is away, who is told of the deletion only. */
  @Test
  void keptMeanwhile_isNotGrantedByTheDeletion() {
    try (StoreByHand a = new StoreByHand("a", ZooKeeperStore.at(StoreAddress.parse(direct)));
        StoreByHand b = new StoreByHand("b", ZooKeeperStore.at(StoreAddress.parse(tunnelled)))) {
      Claim holder = a.claim("a");
      Claim waiter = b.claim("a");
      a.granted(holder);
      b.busy(waiter, Mode.QUEUE);
      tunnel.stall();
      tunnel.drop();
      assertEquals(Ended.Outcome.RELEASED, a.end(holder, Duration.ofMinutes(5)));
      tunnel.heal();
      b.awaitLookAgain(waiter);
      b.busy(waiter, Mode.QUEUE);
    }
  }

  /** The application's client is away when Holdfast is closed: what was held goes when it is back, not with the session. */
  @Test
  void closedMeanwhile_leavesNothingInAGivenClientsSession() throws Exception {
    try (CuratorFramework given = given()) {
      Holdfast mine = using(given);
      Hold hold = mine.lock("a").acquire();
      long session = given.getZookeeperClient().getZooKeeper().getSessionId();
      tunnel.stall();
      tunnel.drop();
      mine.close();
      tunnel.heal();
      try (Holdfast other = Clients.connect(direct);
          Hold next = Await.value(other.lock("a").acquireAsync())) {
        assertTrue(next.token() > hold.token());
      }
      assertEquals(session, given.getZookeeperClient().getZooKeeper().getSessionId());
    }
  }

  /** A release that is to keep the lock has not come through when Holdfast is closed: it is kept when the client is back. */
  @Test
  void closedMeanwhile_keepsWhatAReleaseWasToKeep() throws Exception {
    LockOptions kept = LockOptions.builder().holdAtLeast(Duration.ofMinutes(5)).build();
    try (CuratorFramework given = given()) {
      Holdfast mine = using(given);
      Hold hold = mine.lock("a", kept).acquire();
      tunnel.stall();
      tunnel.drop();
      assertThrows(StoreUnavailableException.class, hold::release);
      mine.close();
      tunnel.heal();
      Await.until("the lock is kept", () -> ZooKeeperPaths.markerIn(nodes()).isPresent());
      try (Holdfast other = Clients.connect(direct)) {
        assertTrue(other.lock("a").tryAcquire().isEmpty());
      }
    }
  }

  /** Curator tells one listener after the other: one of the application's that waits for a lock does not keep it from us. */
  @Test
  void connectionThatOthersHearOfFirst_isUsed() throws Exception {
    CountDownLatch locked = new CountDownLatch(1);
    try (CuratorFramework given = CuratorFrameworkFactory.newClient(
        "127.0.0.1:" + tunnel.port(), 40_000, 20_000, new RetryOneTime(100))) {
      CompletableFuture<Boolean> waits = new CompletableFuture<>();
      given.getConnectionStateListenable().addListener((client, state) -> {
        if (state == ConnectionState.RECONNECTED) {
          waits.complete(true);
          awaitUninterruptibly(locked);
        }
      });
      given.start();
      assertTrue(given.blockUntilConnected(60, TimeUnit.SECONDS));
      try (Holdfast mine = using(given)) {
        assertTrue(mine.lock("a").acquire().release());
        tunnel.drop();
        assertTrue(Await.value(waits));
        assertTrue(Await.value(mine.lock("a").acquireAsync()).release());
      } finally {
        locked.countDown();
      }
    }
  }

  /** What Curator says of an earlier session, and we hear late, ends nothing in this one; nor is one used before it is to be. */
  @Test
  void lossThatIsToldLate_endsNothing() throws Exception {
    List<Long> ended = new ArrayList<>();
    AtomicInteger restored = new AtomicInteger();
    assertTrue(curator.blockUntilConnected(60, TimeUnit.SECONDS));
    ZooKeeperSession session = new ZooKeeperSession(
        curator, false, "/nothing", Ticker.system(), new ZooKeeperSession.Listener() {
          @Override
          public void disturbed() {}

          @Override
          public void restored(int sessionMillis) {
            restored.incrementAndGet();
          }

          @Override
          public void ended(ZooKeeperSession of, long sessionId) {
            ended.add(sessionId);
          }
        });
    session.look();
    assertEquals(0, restored.get(), "used before it was started");
    session.start();
    Link link = session.link();
    session.stateChanged(curator, ConnectionState.LOST);
    assertSame(link, session.link());
    assertEquals(List.of(), ended);
    ZooKeeper handle = curator.getZookeeperClient().getZooKeeper();
    long id = handle.getSessionId();
    handle.close();
    session.stateChanged(curator, ConnectionState.LOST);
    assertEquals(List.of(id), ended);
    session.close();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertTrue(latch.await(100, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      // the client is being closed
      Thread.currentThread().interrupt();
    }
  }

  /** The marker is made, and nobody hears of it. */
  @Test
  void markerOfALostAnswer_goesInTime() throws Exception {
    HookedClients clients = HookedClients.at(tunnelled);
    LockOptions kept = LockOptions.builder().holdAtLeast(Duration.ofSeconds(5)).build();
    try (Holdfast mine = Holdfast.builder().store(clients.store(tunnelled)).build()) {
      Hold hold = mine.lock("a", kept).acquire();
      clients.beforeMulti(tunnel::stallReplies);
      CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(hold::release);
      Await.until("it is kept", () -> ZooKeeperPaths.markerIn(nodes()).isPresent());
      tunnel.drop();
      tunnel.heal();
      Await.until("nothing is left", () -> nodes().isEmpty());
      released.handle((known, failure) -> true).orTimeout(60, TimeUnit.SECONDS).join();
    }
  }

  /** A claim whose making was not answered, and that was found again, has waited since it was made. */
  @Test
  void foundAgain_isKeptFromItsGrantOn() throws Exception {
    Duration least = Duration.ofMinutes(1);
    LockOptions kept = LockOptions.builder().holdAtLeast(least).build();
    try (Holdfast other = Clients.connect(direct);
        Holdfast mine = Clients.connect(tunnelled)) {
      // its session for the lease is there
      mine.lock("a").acquire().close();
      Hold ahead = other.lock("a").acquire();
      tunnel.stallReplies();
      CompletableFuture<Hold> asked = mine.lock("a", kept).acquireAsync();
      Await.until("the server has the node", () -> nodes().size() == 2);
      tunnel.drop();
      tunnel.heal();
      // it is connected again
      Await.value(mine.lock("b").acquireAsync()).close();
      long before = Ticker.system().wallMillis();
      assertTrue(ahead.release());
      assertTrue(Await.value(asked).release());
      long until =
          NodeData.readKept(curator.getData().forPath(marker())).orElseThrow().untilMillis();
      // two clocks are read, each to the millisecond
      assertTrue(until >= before + least.toMillis() - 5, () -> until - before + " ms");
    }
  }
}
