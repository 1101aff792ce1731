// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is done to a real cluster, and what becomes of the holds and waits of its clients. */
@Tag("all")
class ClusterFaultsTest {
  /** Long enough that only a renewal or a message can be what a test sees. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofSeconds(2)).build();

  @RegisterExtension
  static final LazyServer<ClusterServers> SERVERS =
      new LazyServer<>(() -> new ClusterServers(Duration.ofSeconds(1)));

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void whole() {
    SERVERS.get().awaitWhole();
  }

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    Await.until(
        "all locks are gone",
        () -> SERVERS.get().servers().stream().allMatch(ClusterFaultsTest::isEmptied));
  }

  /** A node that was killed calls itself a primary until the others tell it what it is: then it is asked again. */
  private static boolean isEmptied(RedisServer node) {
    return node.says(
        redis -> redis.info("replication").contains("role:slave") || "OK".equals(redis.flushall()));
  }

  private Holdfast client() {
    Holdfast client = Holdfast.connect(SERVERS.get().uri());
    open.add(client);
    return client;
  }

  private static RedisServer another(RedisServer than) {
    return SERVERS.get().primaries().stream()
        .filter(each -> each.port() != than.port())
        .findFirst()
        .orElseThrow();
  }

  /** A slot moves with a held lock and its waiter: neither notices, wherever the keys are just then. */
  @Test
  void moveOfASlot_losesNeitherHoldNorWait() throws Exception {
    Holdfast holder = client();
    Hold hold = holder.lock("moving", LONG).acquire();
    CompletableFuture<Hold> waiter = client().lock("moving", LONG).acquireAsync();
    Holdfast other = client();
    awaitWaiters(other, "moving", 1);
    RedisServer from = SERVERS.get().primary("moving");
    RedisServer to = another(from);
    SERVERS.get().beginMove("moving", from, to);
    assertThat(other.lock("moving", LONG).tryAcquire()).isEmpty();
    SERVERS.get().moveKeys("moving", from, to);
    // the old node sends on to the new one, which answers only who says that he was sent
    assertThat(other.lock("moving", LONG).tryAcquire()).isEmpty();
    assertThat(other.admin().inspect("moving").map(LockInfo::token)).contains(hold.token());
    SERVERS.get().endMove("moving", from, to);
    assertThat(other.lock("moving", LONG).tryAcquire()).isEmpty();
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
    long there = to.call(redis -> redis.exists("holdfast:{moving}"));
    assertThat(there).isEqualTo(1);
  }

  /**
   * In the middle of a move the cluster puts off whoever asks for a lock without waiters: told as unavailable. A renewal
   * asks for its record alone, which is on one side: the hold goes on.
   */
  @Test
  void moveOfASlot_putsOffALockWithoutWaiters_andRenewsItsHold() throws Exception {
    LockOptions middling =
        LockOptions.builder().leaseFor(Duration.ofSeconds(12)).build();
    Hold hold = client().lock("put off", middling).acquire();
    Holdfast other = client();
    RedisServer from = SERVERS.get().primary("put off");
    RedisServer to = another(from);
    SERVERS.get().beginMove("put off", from, to);
    SERVERS.get().moveKeys("put off", from, to);
    CompletableFuture<Hold> waiter = other.lock("put off", middling).acquireAsync();
    // the answer to one that was asked before may come just now
    awaitRenewal(hold);
    awaitRenewal(hold);
    assertThat(hold.state()).isEqualTo(HoldState.HELD);
    assertThat(waiter).isNotDone();
    SERVERS.get().endMove("put off", from, to);
    Await.until("it is released", () -> releases(hold));
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    Await.until("the next can be released", () -> releases(next));
  }

  /** What is left grows from one look to the next: however long the renewal took, and however fresh the hold was before. */
  private static void awaitRenewal(Hold hold) {
    AtomicReference<Duration> left = new AtomicReference<>(hold.remaining());
    Await.until("it is renewed", () -> {
      Duration now = hold.remaining();
      return now.compareTo(left.getAndSet(now)) > 0;
    });
  }

  /** A node is killed: its replica takes over, the hold goes on there, and holds at other nodes never mattered. */
  @Test
  void kill_ofANode_losesNoHoldThatWasReplicated() throws Exception {
    Holdfast client = client();
    Hold hold = client.lock("x", LONG).acquire();
    RedisServer former = SERVERS.get().primary("x");
    String elsewhere = lockAwayFrom(former);
    Hold other = client.lock(elsewhere, LONG).acquire();
    CompletableFuture<Hold> waiter = client().lock("x", LONG).acquireAsync();
    awaitWaiters(client(), "x", 1);
    awaitReplicated(former);
    former.kill();
    try {
      Holdfast rival = client();
      Await.until("the lock is busy at the new node", () -> isBusy(rival, "x"));
      Await.until("the hold was renewed", () -> hold.state() == HoldState.HELD);
      assertThat(hold.isValid()).isTrue();
      assertThat(other.isValid()).isTrue();
      Await.until("it can be released", () -> releases(hold));
      Hold next = Await.value(waiter);
      assertThat(next.token()).isGreaterThan(hold.token());
      assertThat(next.release()).isTrue();
      Await.until("the other can be released", () -> releases(other));
    } finally {
      former.start();
    }
  }

  /** The replica never heard of the grant: its takeover forgets it, the holder is told at its next renewal. */
  @Test
  @Warns("lock=forgotten .*hold lost")
  void kill_ofANode_beforeItsReplicaKnew_isTold() throws Exception {
    // the replica has to take over, and to be found, before it ends by itself
    LockOptions middling =
        LockOptions.builder().leaseFor(Duration.ofSeconds(45)).build();
    Holdfast holder = client();
    RedisServer former = SERVERS.get().primary("forgotten");
    RedisServer replica = SERVERS.get().replicaOf(former);
    RedisServer witness = another(former);
    replica.pause();
    Hold hold;
    try {
      // else what is written from now on would wait for it in its socket
      former.call(redis -> redis.clientKill(KillArgs.Builder.typeSlave()));
      hold = holder.lock("forgotten", middling).acquire();
      former.kill();
    } finally {
      replica.resume();
    }
    try {
      Await.until(
          "another node has the slot",
          () -> ClusterServers.portOf("forgotten", witness) != former.port());
      Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
      assertThatThrownBy(hold::ensureValid)
          .isInstanceOfSatisfying(
              HoldLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.GONE));
      try (Hold next = client().lock("forgotten", middling).acquire(Await.PATIENCE)) {
        assertThat(next.token()).isGreaterThan(hold.token());
      }
    } finally {
      former.start();
    }
  }

  /**
   * A node is stopped for so long that its replica takes over and the lease ends, and then goes on: the hold was told
   * lost, and what the former node says when it wakes does not bring it back.
   */
  @Test
  @MayWarn("the store did not confirm the release")
  @Warns("lock=paused .*hold lost")
  void pause_ofANode_neverTwoValidHolds() throws Exception {
    Hold hold = client().lock("paused", SHORT).acquire();
    RedisServer former = SERVERS.get().primary("paused");
    RedisServer witness = another(former, SERVERS.get());
    awaitReplicated(former);
    Holdfast second = client();
    former.pause();
    CompletableFuture<Hold> waiter;
    try {
      waiter = second.lock("paused", SHORT).acquireAsync();
      Await.until(
          "another node has the slot",
          () -> ClusterServers.portOf("paused", witness) != former.port());
      Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
    } finally {
      former.resume();
    }
    Await.until("the former node knows what it is", () -> {
      assertThat(hold.isValid()).isFalse();
      return former.saysOfReplication("role:slave");
    });
    Hold next = Await.value(waiter);
    assertThat(hold.isValid()).isFalse();
    assertThat(next.token()).isGreaterThan(hold.token());
    // not always still its own: the former node may have granted it in the moment in which it woke, and forgot it
    next.close();
    try (Hold last = second.lock("paused", SHORT).acquire(Duration.ofSeconds(10))) {
      assertThat(last.token()).isGreaterThan(next.token());
    }
  }

  private static RedisServer another(RedisServer than, ClusterServers of) {
    return of.servers().stream()
        .filter(each -> each.port() != than.port())
        .findFirst()
        .orElseThrow();
  }

  private static String lockAwayFrom(RedisServer server) {
    for (int i = 0; ; i++) {
      String name = "elsewhere-" + i;
      if (SERVERS.get().primary(name).port() != server.port()) {
        return name;
      }
    }
  }

  private static boolean isBusy(Holdfast client, String lock) {
    try {
      return client.lock(lock, LONG).tryAcquire().isEmpty();
    } catch (HoldfastException e) {
      // nobody has the slot yet, or it was asked of the node that is gone
      return false;
    }
  }

  private static boolean releases(Hold hold) {
    try {
      return hold.release();
    } catch (HoldfastException e) {
      return hold.state() == HoldState.RELEASED;
    }
  }

  private static void awaitReplicated(RedisServer primary) {
    // what a failover would forget is not what is tested here
    Await.until(
        "the replica has everything",
        () -> primary.says(redis -> {
          Map<String, String> info = RedisDoctor.parse(redis.info("replication"));
          String offset = info.getOrDefault("master_repl_offset", "?");
          return info.getOrDefault("slave0", "").contains("offset=" + offset + ",");
        }));
  }

  private static void awaitWaiters(Holdfast client, String lock, int count) {
    Await.until(
        count + " wait",
        () -> client.admin().inspect(lock).map(info -> info.waiters().known()).orElse(0) == count);
  }
}
