// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.ConfigurationException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holder;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.Warns;
import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast.replicas}, on a primary with one replica: what counts, and what becomes of what does not. */
@Tag("stores")
class RedisReplicasTest {
  /** What {@code lock.lua} packs in front of the claim, in bytes. */
  private static final long RECORD_WITHOUT_CLAIM = 34;

  private static final String REVISION =
      "local _, _, revision = struct.unpack('<BBi8', redis.call('HGET', KEYS[1], 'l')) return revision";

  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  private static final LockOptions SHORT =
      LockOptions.builder().leaseFor(Duration.ofMillis(1500)).build();

  private static final String ONE = "?holdfast.replicas=1&holdfast.replicas-timeout=300ms";

  private final List<AutoCloseable> open = new ArrayList<>();

  @SuppressWarnings("NullAway.Init")
  private RedisServer primary;

  @SuppressWarnings("NullAway.Init")
  private RedisServer replica;

  @BeforeEach
  void start() {
    primary = RedisServer.with("--appendonly", "no", "--repl-diskless-sync-delay", "0");
    open.add(primary);
    replica = RedisServer.with(
        "--appendonly", "no", "--replicaof", "127.0.0.1", Integer.toString(primary.port()));
    open.add(replica);
    primary.awaitReplica(replica);
  }

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  /** One whose grants are to be confirmed, however long a busy machine takes for it. */
  private Holdfast patient() {
    Holdfast client = Holdfast.builder()
        .store(primary.uri() + "?holdfast.replicas=1&holdfast.replicas-timeout=10s")
        .requestTimeout(Duration.ofSeconds(20))
        .build();
    open.add(client);
    return client;
  }

  /** One whose requests end long after its wait for the replica, so that it is the end of that which is told. */
  private Holdfast client(String parameters) {
    Holdfast client = Holdfast.builder()
        .store(primary.uri() + parameters)
        .requestTimeout(Duration.ofSeconds(10))
        .build();
    open.add(client);
    return client;
  }

  /** Acquires however often it takes: on a busy machine a replica that is well may need more than its 300 ms. */
  private static Hold acquire(DistributedLock lock) {
    return Await.present("a grant that the replica confirms in time", () -> {
      try {
        return lock.tryAcquire();
      } catch (AcquireUnknownException | StoreUnavailableException e) {
        return Optional.empty();
      }
    });
  }

  /** When the grant is heard of, the replica has it: nothing is awaited here. */
  @Test
  void grant_isAtTheReplica() throws Exception {
    Holdfast client = patient();
    for (int i = 0; i < 50; i++) {
      String name = "x" + i;
      try (Hold hold = client.lock(name, LONG).acquire()) {
        Long length = replica.call(redis -> redis.hstrlen("holdfast:{" + name + "}", "l"));
        assertThat(length).as("a record with a claim").isGreaterThan(RECORD_WITHOUT_CLAIM);
        assertThat(hold.isValid()).isTrue();
      }
    }
  }

  /** A replica that does not answer: the grant is given back, and the caller told how many there were. */
  @Test
  void pausedReplica_isTold_andNothingIsLeft() throws Exception {
    DistributedLock lock = client(ONE).lock("x", LONG);
    replica.pause();
    try {
      assertThatThrownBy(() -> lock.tryAcquire().isPresent())
          .satisfies(e -> assertNotReplicated(e, 0, 1));
      awaitFree("x");
      assertThatThrownBy(() -> lock.acquire(Await.PATIENCE).close())
          .satisfies(e -> assertNotReplicated(e, 0, 1));
      awaitFree("x");
    } finally {
      replica.resume();
    }
    assertThat(acquire(lock).release()).isTrue();
  }

  /**
   * The engine gives an attempt up and repeats it, and the first one turns out not to be confirmed: what the second was
   * granted is the claim's until its end.
   */
  @Test
  void attemptThatIsNotConfirmed_endsNothingOfItsRepetition() throws Exception {
    RespProxy proxy = new RespProxy(primary.port());
    open.add(proxy);
    for (RedisScript each : RedisScript.values()) {
      primary.call(redis -> redis.scriptLoad(each.text()));
    }
    Catch end = proxy.next("end", Fate.LATE_REQUEST);
    RecordingStart start = new RecordingStart();
    RedisStore store = RedisStore.at(StoreAddress.parse(proxy.uri() + "?holdfast.replicas=1"));
    open.add(store);
    store.start(start.runtime(), start);
    Await.value(store.connect());
    Claim claim = new Claim(
        new ClaimId(start.runtime().client(), 1),
        LockKey.of("x"),
        1,
        1,
        Duration.ofMinutes(10),
        false,
        new Holder("tester", "host", 1, "main", ""));
    replica.pause();
    try {
      StoreException failure = (StoreException) Await.value(store
          .attempt(claim, Mode.TRY, Instant.MAX)
          .handle((answer, failed) ->
              failed instanceof CompletionException wrapped ? wrapped.getCause() : failed));
      assertThat(failure.reason()).isEqualTo(Reason.NOT_REPLICATED);
      assertThat(failure.notApplied()).isFalse();
    } finally {
      replica.resume();
    }
    Await.until(
        "the repetition is confirmed",
        () -> Await.value(store
            .attempt(claim, Mode.TRY, Instant.MAX)
            .handle((answer, failed) -> answer instanceof Answer.Granted)));
    if (end.caught().isDone()) {
      end.letGo();
      Await.value(end.answered());
    }
    Long length = primary.call(redis -> redis.hstrlen("holdfast:{x}", "l"));
    assertThat(length).as("a record with a claim").isGreaterThan(RECORD_WITHOUT_CLAIM);
  }

  /** A replica that is gone: told at once, also to who would wait; when it is back, locks are granted. */
  @Test
  void killedReplica_isTold() throws Exception {
    DistributedLock lock = client(ONE).lock("x", LONG);
    replica.kill();
    assertThatThrownBy(() -> lock.acquire().close()).satisfies(e -> assertNotReplicated(e, 0, 1));
    awaitFree("x");
    replica.start();
    primary.awaitReplica(replica);
    assertThat(acquire(lock).release()).isTrue();
  }

  /** A time-out that is longer than a request's time is cut to what leaves time to say so. */
  @Test
  void longTimeout_isToldInTime() {
    DistributedLock lock =
        client("?holdfast.replicas=1&holdfast.replicas-timeout=20s").lock("x", LONG);
    replica.kill();
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .satisfies(e -> assertNotReplicated(e, 0, 1));
    awaitFree("x");
  }

  /** More than there are: the caller is told how many there were. */
  @Test
  void moreThanThereAre_isTold() {
    DistributedLock lock = client("?holdfast.replicas=2").lock("x", LONG);
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .satisfies(e -> assertNotReplicated(e, 1, 2));
    awaitFree("x");
    Finding finding = Diagnosis.of(primary.uri() + "?holdfast.replicas=2").about("replicas");
    assertThat(finding.level()).isEqualTo(Level.PROBLEM);
    assertThat(finding.message()).contains("1 of the 2");
  }

  /** A renewal that only the primary knows of extends no hold: it is at risk, and lost before the replica's lease ends. */
  @Test
  @Warns("lock=x .*hold lost")
  void renewal_isNotTrustedUnconfirmed() throws Exception {
    Hold hold = acquire(client(ONE).lock("x", SHORT));
    replica.pause();
    try {
      Await.until("the hold is at risk", () -> hold.state() != HoldState.HELD);
      Await.until("the hold is lost", () -> hold.state() == HoldState.LOST);
    } finally {
      replica.resume();
    }
  }

  /** A replica that answers again in time: the hold was at risk, and is held. */
  @Test
  void renewal_afterAPause_isHeldAgain() throws Exception {
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(12)).build();
    Hold hold = acquire(client(ONE).lock("x", options));
    replica.pause();
    try {
      Await.until("the hold is at risk", () -> hold.state() == HoldState.AT_RISK);
    } finally {
      replica.resume();
    }
    Await.until("the hold is held again", () -> hold.state() == HoldState.HELD);
    assertThat(hold.release()).isTrue();
  }

  /** A lock that another client's release handed over was granted on that client's connection: it is confirmed too. */
  @Test
  void handOver_isConfirmed() throws Exception {
    Hold hold = client("").lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = patient().lock("x", LONG).acquireAsync();
    awaitWaiter();
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    Long revision =
        replica.call(redis -> redis.eval(REVISION, ScriptOutputType.INTEGER, "holdfast:{x}"));
    assertThat(revision).isEqualTo(next.token() >> 8);
    assertThat(next.release()).isTrue();
  }

  /** A lock that was handed over and not confirmed is given back, and the waiter told. */
  @Test
  void handOver_thatIsNotConfirmed_isGivenBack() throws Exception {
    Hold hold = client("").lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = client(ONE).lock("x", LONG).acquireAsync();
    awaitWaiter();
    replica.pause();
    try {
      assertThat(hold.release()).isTrue();
      assertNotReplicated(Await.failure(waiter), 0, 1);
      awaitFree("x");
    } finally {
      replica.resume();
    }
  }

  /** Who only has to be told "busy", and who releases, does not wait for replicas. */
  @Test
  void busyAndRelease_waitForNobody() throws Exception {
    Holdfast client = client("?holdfast.replicas=1&holdfast.replicas-timeout=1m");
    Hold hold = client.lock("x", LONG).acquire();
    Hold other = client("").lock("y", LONG).acquire();
    replica.pause();
    try {
      assertThat(client.lock("y", LONG).tryAcquire()).isEmpty();
      assertThat(hold.release()).isTrue();
      assertThat(other.release()).isTrue();
    } finally {
      replica.resume();
    }
  }

  /** Many at once share a WAIT: it takes one more connection, whatever their number. */
  @Test
  void manyAtOnce_areConfirmed() {
    Holdfast client = patient();
    long before = connections();
    List<CompletableFuture<Hold>> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      all.add(client.lock("x" + i, LONG).acquireAsync());
    }
    List<Hold> holds = new ArrayList<>();
    all.forEach(each -> holds.add(Await.value(each)));
    assertThat(connections()).isEqualTo(before);
    long waits = calls("wait");
    assertThat(waits).isBetween(1L, 250L);
    holds.forEach(each -> assertThat(each.release()).isTrue());
  }

  private long connections() {
    return primary.call(redis -> redis.clientList()).lines().count();
  }

  private long calls(String command) {
    String stats = primary.call(redis -> redis.info("commandstats"));
    String line = stats
        .lines()
        .filter(each -> each.startsWith("cmdstat_" + command + ":calls="))
        .findFirst()
        .orElseThrow();
    return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
  }

  /** What it gives, and what it does not, is said before anything is asked; Redlock has no replicas. */
  @Test
  void guarantees_sayIt() {
    assertThat(client(ONE).guarantees().exceptions())
        .anyMatch(each -> each.contains("holdfast.replicas=1") && each.contains("not consensus"));
    assertThat(client("").guarantees().exceptions()).noneMatch(each -> each.contains("replicas="));
    assertThatThrownBy(
            () -> Holdfast.connect("redlock://a,b,c?holdfast.replicas=1").close())
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("holdfast.replicas");
    for (String wrong : new String[] {"x", "-1", "101"}) {
      assertThatThrownBy(() -> client("?holdfast.replicas=" + wrong))
          .isInstanceOf(ConfigurationException.class);
    }
  }

  private static void assertNotReplicated(Throwable failure, int found, int wanted) {
    assertThat(failure).isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
      assertThat(e.reason()).isEqualTo(Reason.NOT_REPLICATED);
      assertThat(e.getMessage())
          .contains(found + " of the " + wanted, "given back", "INFO replication");
    });
  }

  private void awaitFree(String name) {
    Holdfast client = client("");
    Await.until("it is given back", () -> client.admin().inspect(name).isEmpty());
  }

  private void awaitWaiter() {
    Await.until("one waits", () -> primary.call(redis -> redis.zcard("holdfast:{x}:q")) == 1);
  }
}
