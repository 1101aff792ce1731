// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When sessions are opened, looked at and closed. */
@Timeout(120)
class ZooKeeperSessionsTest {
  private final List<CuratorFramework> made = new CopyOnWriteArrayList<>();
  private final List<Duration> lengths = new CopyOnWriteArrayList<>();
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch mayMake = new CountDownLatch(1);

  /** Nobody listens there; the second client takes its time to be made. */
  private final class SlowClients implements ZooKeeperClients {
    @Override
    public boolean isGiven() {
      return false;
    }

    @Override
    public CuratorFramework client(int sessionMillis) {
      if (!made.isEmpty()) {
        asked.countDown();
        Await.until("it may be made", () -> mayMake.getCount() == 0);
      }
      CuratorFramework client = CuratorFrameworkFactory.newClient(
          "127.0.0.1:1", sessionMillis, 1000, new RetryOneTime(1));
      made.add(client);
      lengths.add(Duration.ofMillis(sessionMillis));
      return client;
    }

    @Override
    public List<ACL> acl() {
      return ZooDefs.Ids.OPEN_ACL_UNSAFE;
    }

    @Override
    public String servers() {
      return "127.0.0.1:1";
    }

    @Override
    public ZKClientConfig config() {
      return new ZKClientConfig();
    }

    @Override
    public void close() {}
  }

  private static final class Silent implements ZooKeeperSession.Listener {
    @Override
    public void disturbed() {}

    @Override
    public void restored(int sessionMillis) {}

    @Override
    public void ended(ZooKeeperSession session, long sessionId) {}
  }

  private ZooKeeperSessions sessions(Duration tick) {
    return sessions(tick, Ticker.system());
  }

  private ZooKeeperSessions sessions(Duration tick, Ticker ticker) {
    return new ZooKeeperSessions(
        new SlowClients(), "/nothing", Duration.ofSeconds(30), tick, ticker, new Silent());
  }

  /** A session that is made beside the end of all. */
  @Test
  void openedBesideTheEnd_isClosed() throws Exception {
    ZooKeeperSessions sessions = sessions(Duration.ofSeconds(2));
    CompletableFuture<ZooKeeperSession> late =
        CompletableFuture.supplyAsync(() -> sessions.forLease(Duration.ofSeconds(1)));
    asked.await();
    sessions.close(0);
    mayMake.countDown();
    Await.value(late);
    Await.until("it is closed", () -> made.get(1).getState() == CuratorFrameworkState.STOPPED);
  }

  /** A session that no claim has been on for a minute; the first one stays. */
  @Test
  void unused_isClosed() {
    mayMake.countDown();
    ManualClock clock = new ManualClock();
    ZooKeeperSessions sessions = sessions(Duration.ofSeconds(2), clock);
    Duration brief = Duration.ofSeconds(1);
    ZooKeeperSession session = sessions.forLease(brief);
    clock.advance(Duration.ofMinutes(2));
    sessions.look();
    assertSame(session, sessions.forLease(brief), "a claim is on it");
    session.leave();
    session.leave();
    clock.advance(Duration.ofSeconds(59));
    sessions.look();
    assertSame(session, sessions.forLease(brief), "a claim was on it a moment ago");
    session.leave();
    clock.advance(Duration.ofMinutes(1));
    sessions.look();
    Await.until("it is closed", () -> made.get(1).getState() == CuratorFrameworkState.STOPPED);
    assertFalse(session.enter());
    assertNotSame(session, sessions.forLease(brief));
    assertNotEquals(CuratorFrameworkState.STOPPED, made.get(0).getState());
    sessions.close(0);
  }

  /** ZooKeeper counts in milliseconds; 20,480 of them are a step of the lengths. */
  @Test
  void lengthInNanoseconds_isRoundedUp() {
    mayMake.countDown();
    Duration tick = Duration.ofSeconds(1);
    Duration lease = Duration.ofMillis(19_480).plusNanos(1);
    sessions(tick).forLease(lease);
    assertTrue(lengths.get(1).compareTo(lease.plus(tick)) >= 0, lengths::toString);
  }

  /** Signs of life are sent four times in the tick. */
  @Test
  void shortTick_isLookedAtOften() {
    assertEquals(100_000_000L, sessions(Duration.ofSeconds(2)).lookEveryNanos());
    mayMake.countDown();
    assertEquals(10_000_000L, sessions(Duration.ofMillis(80)).lookEveryNanos());
  }
}
