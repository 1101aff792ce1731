// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Finding.Level;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is done to a real server, and what becomes of the holds and waits of its clients. */
@Tag("all")
class RedisFaultsTest {
  /** What {@code lock.lua} packs in front of the claim, in bytes. */
  private static final long RECORD_WITHOUT_CLAIM = 34;

  /** Long enough that only a renewal or a message can be what a test sees. */
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofMillis(1500)).build();

  /** Renewed a few times within a test, and long enough for a machine that stands still between two of them. */
  private static final LockOptions MIDDLING =
      LockOptions.builder().leaseFor(Duration.ofSeconds(9)).build();

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private RedisServer server(String... options) {
    RedisServer server = RedisServer.with(options);
    open.add(server);
    return server;
  }

  private RedisServer durable() {
    return server("--appendonly", "yes", "--appendfsync", "always");
  }

  private RedisServer forgetful() {
    return server("--appendonly", "no");
  }

  private Holdfast client(RedisServer server) {
    Holdfast client = Holdfast.connect(server.uri());
    open.add(client);
    return client;
  }

  /** Makes a client whose releases have the time that a slow machine takes, as far as the lease allows. */
  private Holdfast patient(RedisServer server) {
    Holdfast client = Holdfast.builder()
        .store(server.uri())
        .requestTimeout(Duration.ofSeconds(10))
        .build();
    open.add(client);
    return client;
  }

  /** Killed and started again, with every change on disk: the hold goes on, nobody else gets the lock. */
  @Test
  void kill_ofADurableServer_isSurvived() throws Exception {
    RedisServer server = durable();
    Hold hold = client(server).lock("x", LONG).acquire();
    server.kill();
    server.start();
    Holdfast other = client(server);
    assertThat(other.lock("x", LONG).tryAcquire()).isEmpty();
    assertThat(hold.isValid()).isTrue();
    Await.until("the connection is back", () -> hold.state() == HoldState.HELD);
    assertThat(other.admin().inspect("x").map(LockInfo::token)).contains(hold.token());
    Await.until("it can be released", () -> releases(hold));
    try (Hold next = other.lock("x", LONG).acquire(Duration.ofSeconds(10))) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  private static boolean releases(Hold hold) {
    try {
      return hold.release();
    } catch (StoreUnavailableException e) {
      return hold.state() == HoldState.RELEASED;
    }
  }

  /** Killed and started again, with nothing on disk: the hold is told that it is lost, and tokens grow all the same. */
  @Test
  @MayWarn("the store did not confirm the release")
  @Warns("lock=x .*hold lost")
  void kill_ofAForgetfulServer_isTold() throws Exception {
    RedisServer server = forgetful();
    Hold hold = client(server).lock("x", SHORT).acquire();
    server.kill();
    server.start();
    Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
    Await.until("the future of the loss is done", () -> hold.lost().isDone());
    try (Hold next = client(server).lock("x", SHORT).acquire(Duration.ofSeconds(10))) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** A waiter sits out a restart of the server, and gets the lock when it is released. */
  @Test
  void wait_overARestart_goesOn() throws Exception {
    RedisServer server = durable();
    Hold hold = client(server).lock("x", LONG).acquire();
    Holdfast other = client(server);
    CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
    awaitWaiters(server, 1);
    server.restart();
    Await.until("it can be released", () -> releases(hold));
    assertThat(Await.value(waiter).release()).isTrue();
  }

  /** A stopped server: holds are lost in time, requests do not hang, and all goes on when it does. */
  @Test
  @MayWarn("the store did not confirm the release")
  @Warns("lock=x .*hold lost")
  void stop_losesHoldsInTime() throws Exception {
    RedisServer server = forgetful();
    Holdfast client = client(server);
    Hold hold = client.lock("x", SHORT).acquire();
    server.pause();
    try {
      Await.until("the hold is at risk", () -> hold.state() != HoldState.HELD);
      Await.until("the hold is lost", () -> hold.state() == HoldState.LOST);
    } finally {
      server.resume();
    }
    try (Hold next = client.lock("x", SHORT).acquire(Duration.ofSeconds(20))) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** The server forgets the scripts: they are sent again. */
  @Test
  void scriptFlush_isNotNoticed() throws Exception {
    RedisServer server = forgetful();
    DistributedLock lock = client(server).lock("x", LONG);
    Hold hold = lock.acquire();
    server.call(redis -> redis.scriptFlush());
    assertThat(hold.release()).isTrue();
    server.call(redis -> redis.scriptFlush());
    assertThat(lock.tryAcquire().orElseThrow().release()).isTrue();
  }

  /** The server forgets everything: the hold learns of it at its next renewal; a waiter gets the lock. */
  @Test
  @Warns("lock=x .*hold lost")
  void flushAll_isTold() throws Exception {
    RedisServer server = forgetful();
    Hold hold = client(server).lock("x", MIDDLING).acquire();
    CompletableFuture<Hold> waiter = patient(server).lock("x", LONG).acquireAsync();
    awaitWaiters(server, 1);
    server.call(redis -> redis.flushall());
    Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(next.release()).isTrue();
  }

  /** The connection for messages is cut while somebody waits: it is made anew, and the waiter looks again. */
  @Test
  void killedSubscription_losesNoWakeUp() throws Exception {
    RedisServer server = forgetful();
    Hold hold = client(server).lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = client(server).lock("x", LONG).acquireAsync();
    awaitWaiters(server, 1);
    server.call(redis -> redis.clientKill(KillArgs.Builder.typePubsub()));
    assertThat(hold.release()).isTrue();
    assertThat(Await.value(waiter).release()).isTrue();
  }

  /** Every connection is cut: holds stay, since their leases have not ended. */
  @Test
  void killedConnections_loseNoHold() throws Exception {
    RedisServer server = forgetful();
    Hold hold = client(server).lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = client(server).lock("x", LONG).acquireAsync();
    awaitWaiters(server, 1);
    server.call(redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme()));
    server.call(redis -> redis.clientKill(KillArgs.Builder.typePubsub()));
    assertThat(hold.isValid()).isTrue();
    Await.until("it can be released", () -> releases(hold));
    assertThat(Await.value(waiter).release()).isTrue();
  }

  /** A hand-over is told to the waiter's client alone, by the release itself: nobody polls for it. */
  @Test
  void release_handsOver_inOneScript() throws Exception {
    RedisServer server = forgetful();
    Hold hold = client(server).lock("x", LONG).acquire();
    CompletableFuture<Hold> first = client(server).lock("x", LONG).acquireAsync();
    awaitWaiters(server, 1);
    CompletableFuture<Hold> second = client(server).lock("x", LONG).acquireAsync();
    awaitWaiters(server, 2);
    assertThat(hold.release()).isTrue();
    // the release has already made the first one the holder
    Long length = server.call(redis -> redis.hstrlen("holdfast:{x}", "l"));
    assertThat(length).as("a record with a claim").isGreaterThan(RECORD_WITHOUT_CLAIM);
    Hold next = Await.value(first);
    assertThat(second).isNotDone();
    assertThat(next.release()).isTrue();
    assertThat(Await.value(second).release()).isTrue();
  }

  /** A grant that nobody wants any more is passed on at once, not after its lease. */
  @Test
  void cancelledWaiter_passesItsGrantOn() throws Exception {
    RedisServer server = forgetful();
    Hold hold = client(server).lock("x", LONG).acquire();
    Holdfast leaves = client(server);
    CompletableFuture<Hold> first = leaves.lock("x", LONG).acquireAsync();
    awaitWaiters(server, 1);
    CompletableFuture<Hold> second = client(server).lock("x", LONG).acquireAsync();
    awaitWaiters(server, 2);
    assertThat(hold.release()).isTrue();
    if (!first.cancel(true)) {
      assertThat(first.join().release()).isTrue();
    }
    assertThat(Await.value(second).release()).isTrue();
  }

  /** No key lives for ever, and a released record outlives its revision by the retention. */
  @Test
  void everyKey_hasAnEnd() throws Exception {
    RedisServer server = forgetful();
    Holdfast client = client(server);
    client.lock("free", LONG).acquire().close();
    client
        .lock("kept", LONG.toBuilder().holdAtLeast(Duration.ofHours(1)).build())
        .acquire()
        .close();
    Hold hold = client.lock("held", LONG).acquire();
    CompletableFuture<Hold> waiter = client(server).lock("held", LONG).acquireAsync();
    awaitWaiters(server, 1, "held");
    List<String> keys = server.call(redis -> redis.keys("*"));
    assertThat(keys).hasSize(5).contains("holdfast:{held}:q", "holdfast:{held}:w");
    for (String key : keys) {
      long left = server.call(redis -> redis.pttl(key));
      assertThat(left).as(key).isPositive();
      if (key.endsWith("}")) {
        assertThat(Duration.ofMillis(left))
            .as(key)
            .isBetween(Duration.ofHours(23), Duration.ofHours(25));
      }
    }
    assertThat(hold.release()).isTrue();
    assertThat(Await.value(waiter).release()).isTrue();
  }

  /**
   * Somebody shortens the life of a record: it goes when he says, however long it was meant to stay, since neither a renewal
   * nor a grant looks at that. The holder is told, and tokens grow all the same, since revisions are the server's time.
   */
  @Test
  @Warns("lock=x .*hold lost")
  void recordThatIsLetExpire_isGone_andTokensGrow() throws Exception {
    RedisServer server = forgetful();
    DistributedLock lock = patient(server).lock("x", MIDDLING);
    Hold first = lock.acquire();
    assertThat(first.release()).isTrue();
    assertThat(server.<Boolean>call(redis -> redis.pexpire("holdfast:{x}", 12_000)))
        .isTrue();
    Hold second = lock.acquire();
    assertThat(second.token()).isGreaterThan(first.token());
    long left = server.call(redis -> redis.pttl("holdfast:{x}"));
    assertThat(left).as("a grant does not prolong it").isLessThanOrEqualTo(12_000);
    Await.until("the loss is told", () -> second.state() == HoldState.LOST);
    assertThatThrownBy(second::ensureValid)
        .isInstanceOfSatisfying(
            HoldLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.GONE));
    Hold third = lock.acquire();
    assertThat(third.token()).isGreaterThan(second.token());
    assertThat(third.release()).isTrue();
    // the other way round nothing happens
    assertThat(server.<Boolean>call(redis -> redis.persist("holdfast:{x}"))).isTrue();
    Hold fourth = lock.acquire();
    assertThat(fourth.token()).isGreaterThan(third.token());
    assertThat(fourth.release()).isTrue();
  }

  /** What is not ours, or newer, is refused and left as it is. */
  @Test
  void foreignKeys_areLeftAlone() {
    RedisServer server = forgetful();
    server.call(redis -> redis.set("holdfast:{string}", "theirs"));
    server.call(redis -> redis.hset("holdfast:{hash}", "theirs", "1"));
    server.call(redis -> redis.hset("holdfast:{newer}", "v", "2"));
    Holdfast client = client(server);
    for (String name : List.of("string", "hash", "newer")) {
      assertThatThrownBy(() -> client.lock(name, LONG).acquire().close())
          .isInstanceOfSatisfying(
              StoreUnavailableException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.DAMAGED));
    }
    String string = server.call(redis -> redis.get("holdfast:{string}"));
    Map<String, String> hash = server.call(redis -> redis.hgetall("holdfast:{hash}"));
    Map<String, String> newer = server.call(redis -> redis.hgetall("holdfast:{newer}"));
    assertThat(string).isEqualTo("theirs");
    assertThat(hash).isEqualTo(Map.of("theirs", "1"));
    assertThat(newer).isEqualTo(Map.of("v", "2"));
  }

  /** A full, a read-only and a refusing server are told apart, and never taken for a busy lock. */
  @Test
  void refusals_haveTheirReasons() {
    RedisServer server = forgetful();
    Holdfast client = client(server);
    DistributedLock lock = client.lock("x", LONG);
    server.call(redis -> redis.configSet("maxmemory", "1"));
    assertReason(lock, Reason.FULL);
    server.call(redis -> redis.configSet("maxmemory", "0"));
    server.call(redis -> redis.configSet("requirepass", "secret"));
    assertThatThrownBy(() -> client(server).lock("x", LONG).tryAcquire().isPresent())
        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
          assertThat(e.reason()).isEqualTo(Reason.REFUSED);
          assertThat(e.getMessage()).doesNotContain("secret");
        });
  }

  private static void assertReason(DistributedLock lock, Reason reason) {
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }

  /** A user with exactly the permissions that doctor prints can do everything; with one less he is told so at once. */
  @Test
  void aclLine_isEnough() throws Exception {
    RedisServer server = forgetful();
    server.setUser("me", Diagnosis.of(server.uri()).rules("p@ss+%"));
    String uri = server.uri().replace("//", "//me:p%40ss+%25@");
    try (Holdfast me = Holdfast.connect(uri)) {
      Hold hold = me.lock("x", LONG).acquire();
      CompletableFuture<Hold> waiter = client(server).lock("x", LONG).acquireAsync();
      awaitWaiters(server, 1);
      assertThat(me.admin().list("")).hasSize(1);
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
      assertThat(Diagnosis.of(uri).findings()).noneMatch(each -> each.level() == Level.PROBLEM);
    }
    server.setUser("me", List.of("-publish"));
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
  }

  /** The doctor finds what weakens a promise. */
  @Test
  void doctor_findsWhatIsWrong() {
    RedisServer server = forgetful();
    server.call(redis -> redis.configSet("maxmemory-policy", "allkeys-lru"));
    assertThat(Diagnosis.of(server.uri()).levels())
        .containsEntry("version", Level.OK)
        .containsEntry("eviction", Level.WARNING)
        .containsEntry("persistence", Level.WARNING)
        .containsEntry("replication", Level.OK)
        .containsEntry("clock", Level.OK)
        .containsEntry("transport", Level.WARNING);
    server.call(redis -> redis.configSet("maxmemory", "100mb"));
    assertThat(Diagnosis.of(server.uri()).levels()).containsEntry("eviction", Level.PROBLEM);
    assertThat(Diagnosis.of(durable().uri()).levels()).containsEntry("persistence", Level.OK);
  }

  /** The application's own client, which would reconnect and repeat by itself, is used and left open. */
  @Test
  void givenClient_isUsedAndLeftOpen() throws Exception {
    RedisServer server = forgetful();
    RedisClient given = RedisClient.create(server.uri());
    try {
      try (Holdfast client = Holdfast.builder().store(RedisStore.using(given)).build()) {
        Hold hold = client.lock("x", LONG).acquire();
        server.call(redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme()));
        Await.until("it can be released", () -> releases(hold));
      }
      try (var connection = given.connect()) {
        assertThat(connection.sync().ping()).isEqualTo("PONG");
      }
    } finally {
      Direct.close(given);
    }
  }

  private static void awaitWaiters(RedisServer server, int count) {
    awaitWaiters(server, count, "x");
  }

  private static void awaitWaiters(RedisServer server, int count, String name) {
    Await.until(
        count + " wait",
        () -> server.call(redis -> redis.zcard("holdfast:{" + name + "}:q")) == count);
  }
}
