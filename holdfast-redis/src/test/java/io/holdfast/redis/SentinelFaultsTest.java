// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockEvent.AtRisk;
import io.holdfast.LockEvent.Lost;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failovers, graceful and not, and what becomes of the holds and waits of the clients. */
@Tag("all")
class SentinelFaultsTest {
  /** Long enough that only a renewal or a message can be what a test sees. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofSeconds(2)).build();

  private static final LockOptions MIDDLING =
      LockOptions.builder().leaseFor(Duration.ofSeconds(45)).build();

  private final List<AutoCloseable> open = new ArrayList<>();

  /** Servers of each test's own: the sentinels take twenty seconds to find a former primary a good replica again. */
  private final SentinelServers servers = new SentinelServers("for-sentinels");

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    servers.close();
  }

  /** Makes a client whose waits last longer than the longest failover. */
  private Holdfast client() {
    Holdfast client = Holdfast.builder()
        .store(servers.uri())
        .storeRetryFor(Duration.ofMinutes(2))
        .build();
    open.add(client);
    return client;
  }

  /** A failover that an operator asked for: the hold goes on at the new primary, and so does the wait. */
  @Test
  void failover_thatWasAskedFor_losesNothing() throws Exception {
    Hold hold = client().lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = client().lock("x", LONG).acquireAsync();
    awaitWaiter();
    RedisServer former = servers.primary();
    awaitReplicated(former);
    servers.failover();
    servers.awaitPrimaryIsNot(former);
    assertThat(client().lock("x", LONG).tryAcquire()).isEmpty();
    Await.until("the hold was renewed", () -> hold.state() == HoldState.HELD);
    assertThat(hold.isValid()).isTrue();
    Await.until("it can be released", () -> releases(hold));
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** The primary is killed after its replica had everything: the hold goes on at the new primary. */
  @Test
  void kill_ofThePrimary_losesNoHoldThatWasReplicated() throws Exception {
    Hold hold = client().lock("x", LONG).acquire();
    Holdfast other = client();
    RedisServer former = servers.primary();
    awaitReplicated(former);
    former.kill();
    servers.awaitFailoverFrom(former);
    Await.until("the hold was renewed", () -> hold.state() == HoldState.HELD);
    Await.until("the lock is busy at the new primary", () -> isBusy(other));
    Await.until("it can be released", () -> releases(hold));
    try (Hold next = other.lock("x", LONG).acquire(Duration.ofSeconds(10))) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** The replica never heard of the grant: the failover forgets it, the holder is told at its next renewal. */
  @Test
  @Warns("lock=x .*hold lost")
  void kill_ofThePrimary_beforeItsReplicaKnew_isTold() throws Exception {
    RedisServer former = servers.primary();
    RedisServer replica = servers.other(former);
    Holdfast holder = client();
    replica.pause();
    Hold hold;
    try {
      // else what is written from now on would wait for it in its socket
      former.call(redis -> redis.clientKill(KillArgs.Builder.typeSlave()));
      hold = holder.lock("x", MIDDLING).acquire();
      former.kill();
    } finally {
      replica.resume();
    }
    servers.awaitFailoverFrom(former);
    Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
    assertThatThrownBy(hold::ensureValid)
        .isInstanceOfSatisfying(
            HoldLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.GONE));
    try (Hold next = client().lock("x", MIDDLING).acquire(Duration.ofSeconds(10))) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** A primary that is stopped is left as soon as the sentinels have another one, though nothing was asked of it. */
  @Test
  void pause_ofThePrimary_isLeftAtOnce() {
    RecordingStart start = new RecordingStart();
    RedisServer former = servers.primary();
    try (RedisStore store = RedisStore.at(StoreAddress.parse(servers.uri()))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      former.pause();
      try {
        servers.awaitFailoverFrom(former);
        Await.until("both are told", () -> start.told.contains("restored"));
        Await.until("waiters look again", () -> start.told.contains("lookAgainAll"));
        assertThat(start.told.get(0)).isEqualTo("disturbed");
      } finally {
        former.resume();
      }
    }
  }

  /**
   * Cut off from all sentinels while they name another primary, and nothing is asked of the former: it is left when they can
   * be reached again, also if they were never listened to before.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void failover_whileCutOffFromTheSentinels_isHeardOfAfterwards(boolean listened) throws Exception {
    RecordingStart start = new RecordingStart();
    List<RespProxy> ways = new ArrayList<>();
    for (int port : servers.ports()) {
      RespProxy way = new RespProxy(port);
      open.add(way);
      ways.add(way);
      // more than one, since a busy machine may be late with what follows
      for (int i = 0; i < 3 && !listened; i++) {
        way.next("subscribe", Fate.SILENCE);
      }
    }
    RedisServer former = servers.primary();
    String uri = servers.uri(ways.stream().map(RespProxy::port).toList());
    try (RedisStore store = RedisStore.at(StoreAddress.parse(uri))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      for (RespProxy way : ways) {
        Await.until("it subscribes", () -> way.count("subscribe") >= 1);
        if (listened) {
          Await.until("and is asked", () -> asked(way) >= 1 && way.links() == 1);
        }
      }
      ways.forEach(RespProxy::cut);
      former.pause();
      try {
        servers.awaitFailoverFrom(former);
        assertThat(start.told).isEmpty();
        ways.forEach(RespProxy::mend);
        Await.until("both are told", () -> start.told.contains("restored"));
        assertThat(start.told.get(0)).isEqualTo("disturbed");
      } finally {
        former.resume();
      }
    }
  }

  /** A sentinel that comes and goes, and still names the same primary, is no reason to leave it. */
  @Test
  void sentinelThatComesAndGoes_disturbsNothing() throws Exception {
    RecordingStart start = new RecordingStart();
    RespProxy way = new RespProxy(servers.ports().get(1));
    open.add(way);
    List<Integer> ports = new ArrayList<>(servers.ports());
    ports.set(1, way.port());
    try (RedisStore store = RedisStore.at(StoreAddress.parse(servers.uri(ports)))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      for (int i = 1; i <= 3; i++) {
        int times = i;
        Await.until("it is asked", () -> asked(way) >= times && way.links() == 1);
        way.cut();
        way.mend();
      }
      Await.until("it is asked once more", () -> asked(way) >= 4 && way.links() == 1);
      assertThat(start.told).isEmpty();
    }
  }

  private static int asked(RespProxy way) {
    return way.count("subscribe") == 0 ? 0 : way.count("sentinel");
  }

  /** A stopped primary comes back and believes that it is one still: there are never two that believe in their hold. */
  @Test
  @MayWarn({"lock=x .*hold lost", "the store did not confirm the release"})
  void pause_ofThePrimary_thenAZombie_neverTwoValidHolds() throws Exception {
    List<LockEvent> events = new CopyOnWriteArrayList<>();
    Holdfast first =
        Holdfast.builder().store(servers.uri()).listener(events::add).build();
    open.add(first);
    Holdfast second = client();
    Hold hold = first.lock("x", SHORT).acquire();
    RedisServer former = servers.primary();
    awaitReplicated(former);
    former.pause();
    CompletableFuture<Hold> waiter = second.lock("x", SHORT).acquireAsync();
    try {
      servers.awaitFailoverFrom(former);
      // it is in time or not: renewed at the new primary, or lost; then perhaps at once, if this machine stands still
      Await.until(
          "the hold was at risk",
          () -> events.stream().anyMatch(each -> each instanceof AtRisk || each instanceof Lost));
      Await.until("that is over", () -> hold.state() != HoldState.AT_RISK);
    } finally {
      former.resume();
    }
    SentinelServers.awaitLong(
        "the zombie was told what it is",
        () -> isReplica(former, () -> {
          assertThat(hold.isValid() && isValid(waiter)).as("two valid holds").isFalse();
        }));
    // whether it was in time does not matter: the lock is the waiter's, now or when the lease has ended
    hold.close();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    next.close();
    try (Hold last = second.lock("x", LONG).acquire(Await.PATIENCE)) {
      assertThat(last.token()).isGreaterThan(next.token());
    }
  }

  private static boolean isValid(CompletableFuture<Hold> waiter) {
    return waiter.isDone() && waiter.join().isValid();
  }

  private static boolean isReplica(RedisServer server, Runnable meanwhile) {
    meanwhile.run();
    return server.saysOfReplication("role:slave");
  }

  /** A password that the sentinels do not accept is refused, and not shown; a name that they do not know is said. */
  @Test
  void sentinelsThatRefuse_areTold() {
    String unknown = servers.uri().replace("/mymaster", "/hismaster");
    assertThatThrownBy(() -> Holdfast.connect(unknown).close())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("hismaster");
    String uri = servers.uri().replace("for-sentinels", "hunter2");
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
          assertThat(e.getMessage()).doesNotContain("hunter2");
        });
  }

  private static boolean isBusy(Holdfast client) {
    try {
      return client.lock("x", LONG).tryAcquire().isEmpty();
    } catch (StoreUnavailableException e) {
      // it has not found the new primary yet
      return false;
    }
  }

  private static boolean releases(Hold hold) {
    try {
      return hold.release();
    } catch (StoreUnavailableException e) {
      return hold.state() == HoldState.RELEASED;
    }
  }

  private static void awaitReplicated(RedisServer primary) {
    long replicas = primary.call(redis -> {
      // it waits for what this connection has written, and all that was before
      redis.set("marker", "");
      return redis.waitForReplication(1, 10_000);
    });
    assertThat(replicas).isEqualTo(1);
  }

  private void awaitWaiter() {
    Await.until(
        "one waits", () -> servers.primary().says(redis -> redis.zcard("holdfast:{x}:q") == 1));
  }
}
