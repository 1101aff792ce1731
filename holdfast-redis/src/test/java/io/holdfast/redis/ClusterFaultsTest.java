// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LazyServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  /** Locks all over the cluster are kept by one call, and listed by one. */
  @Test
  void locksOfManySlots_areKeptAndListedTogether() {
    RecordingStart start = new RecordingStart();
    try (RedisStore store = RedisStore.at(StoreAddress.parse(SERVERS.get().uri()))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      List<Claim> claims = new ArrayList<>();
      Set<Integer> nodes = new HashSet<>();
      for (int i = 0; i < 50; i++) {
        String name = "many-" + i;
        Claim claim = new Claim(
            new ClaimId(start.runtime().client(), i + 1),
            LockKey.of(name),
            1,
            1,
            Duration.ofMinutes(1),
            false,
            new Holder("tester", "host", 1, "main", ""));
        claims.add(claim);
        nodes.add(SERVERS.get().primary(name).port());
        assertThat(Await.value(store.attempt(claim, Mode.TRY, store.time().plusSeconds(5))))
            .isInstanceOf(Answer.Granted.class);
      }
      assertThat(nodes).hasSize(3);
      Map<ClaimId, Kept> kept = Await.value(store.keep(claims));
      assertThat(kept).hasSize(50);
      assertThat(kept.values()).allMatch(each -> each instanceof Kept.Held);
      var page = Await.value(store.list("many-", Optional.empty()));
      assertThat(page.locks()).hasSize(50);
      for (Claim claim : claims) {
        assertThat(Await.value(store.end(claim, Duration.ZERO, store.time())).outcome())
            .isEqualTo(Outcome.RELEASED);
      }
    }
  }

  /** The address of a cluster is not that of a server, and the other way round: each says what to write. */
  @Test
  void wrongScheme_isSaid() {
    String node = "redis://127.0.0.1:" + SERVERS.get().servers().get(0).port();
    assertRefused(node, "redis-cluster://");
    try (RedisServer single = RedisServer.forgetful()) {
      assertRefused("redis-cluster://127.0.0.1:" + single.port(), "redis://");
    }
  }

  private static void assertRefused(String uri, String advice) {
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
          assertThat(e.getMessage()).contains("write " + advice);
        });
  }

  /** A user with exactly the permissions that doctor prints can do everything, at every node. */
  @Test
  void aclLine_isEnough() throws Exception {
    String line = findings(SERVERS.get().uri()).stream()
        .filter(each -> each.subject().equals("permissions"))
        .findFirst()
        .orElseThrow()
        .advice();
    List<String> rules = List.of(line.substring(line.indexOf("SETUSER NAME ") + 13)
        .replace(">PASSWORD", ">secret")
        .split(" "));
    for (RedisServer each : SERVERS.get().servers()) {
      each.call(redis -> {
        var arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("me");
        rules.forEach(arguments::add);
        return redis.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
      });
    }
    String uri = SERVERS.get().uri().replace("//", "//me:secret@");
    try (Holdfast me = Holdfast.connect(uri)) {
      for (String name : List.of("a", "b", "c", "d", "{e}")) {
        Hold hold = me.lock(name, LONG).acquire();
        CompletableFuture<Hold> waiter = client().lock(name, LONG).acquireAsync();
        awaitWaiters(me, name, 1);
        assertThat(hold.release()).isTrue();
        assertThat(Await.value(waiter).release()).isTrue();
      }
      assertThat(findings(uri)).noneMatch(each -> each.level() == Level.PROBLEM);
    }
  }

  private static List<Finding> findings(String uri) {
    RecordingStart start = new RecordingStart();
    try (RedisStore store = RedisStore.at(StoreAddress.parse(uri))) {
      store.start(start.runtime(), start);
      Await.value(store.connect());
      return Await.value(store.diagnose());
    }
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
