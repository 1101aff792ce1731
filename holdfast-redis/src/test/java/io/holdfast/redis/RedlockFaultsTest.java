// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.ConfigurationException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.Ticker;
import io.holdfast.spi.Finding.Level;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.process.LazyServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What is done to five real nodes, and what becomes of holds and waits. Where a hold has to live on, or an answer has to
 * come, leases and requests have the time that a slow machine takes; what has to be waited out is short.
 */
@Tag("all")
class RedlockFaultsTest {
  private static final int NODES = 5;
  private static final RedlockRule RULE =
      new RedlockRule(NODES, Duration.ofSeconds(12), Duration.ofMillis(500));
  private static final Duration REQUEST = Duration.ofSeconds(5);

  /** For abstentions that are waited out. */
  private static final RedlockRule BRIEF_RULE =
      new RedlockRule(NODES, Duration.ofSeconds(3), RULE.reach());

  /**
   * The product's reach, so that a slow machine is no finding: a node that has forgotten does not vote for 20 s, and it takes
   * a second between two clocks to call them apart.
   */
  private static final RedlockRule FAR_REACH =
      new RedlockRule(NODES, RULE.maxLease(), RedlockRule.REACH);

  private static final LockOptions RENEWED =
      LockOptions.builder().leaseFor(RULE.maxLease()).build();
  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(BRIEF_RULE.maxLease()).build();
  private static final LockOptions FIXED =
      LockOptions.builder().leaseFor(Duration.ofMillis(2500)).renew(false).build();

  /** For holds that must not end by themselves. */
  private static final RedlockRule LASTING_RULE =
      new RedlockRule(NODES, Duration.ofMinutes(5), RULE.reach());

  private static final LockOptions LASTING =
      LockOptions.builder().leaseFor(LASTING_RULE.maxLease()).renew(false).build();
  private static final Duration PLENTY = Await.PATIENCE;

  /** Sooner than anything that is waited for in vain; a busy machine may be later now and then. */
  private static final Duration QUICK = Duration.ofMillis(300);

  @RegisterExtension
  static final LazyServer<RedlockNodes> SHARED = new LazyServer<>(() -> new RedlockNodes(RULE));

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void clear() {
    SHARED.get().clear();
  }

  @AfterEach
  void close() throws Exception {
    Collections.reverse(open);
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  /** Starts nodes of a test's own. */
  private RedlockNodes nodes(RedlockRule rule) {
    RedlockNodes own = new RedlockNodes(rule);
    open.add(own);
    return own;
  }

  private Holdfast client() {
    return client(SHARED.get());
  }

  private Holdfast client(RedlockNodes of) {
    return client(of, event -> {});
  }

  private Holdfast client(java.util.function.Consumer<LockEvent> listener) {
    return client(SHARED.get(), listener);
  }

  private Holdfast client(RedlockNodes of, java.util.function.Consumer<LockEvent> listener) {
    Holdfast client = Holdfast.builder()
        .store(of.store())
        .requestTimeout(REQUEST)
        .listener(listener::accept)
        .build();
    open.add(client);
    return client;
  }

  /** Kills a node until the end of the test. */
  private void kill(int node) {
    SHARED.get().server(node).kill();
    open.add(() -> SHARED.get().server(node).start());
  }

  /** Stops a node until the end of the test. */
  private void pause(int node) {
    SHARED.get().server(node).pause();
    open.add(() -> SHARED.get().server(node).resume());
  }

  /** Two nodes of five are killed: holds are renewed, released and granted as before. */
  @Test
  void minorityKilled_isNotNoticed() throws Exception {
    AtomicInteger renewals = new AtomicInteger();
    Hold hold = acquireEverywhere(client(event -> count(event, renewals)).lock("x", RENEWED));
    Holdfast other = client();
    kill(0);
    kill(3);
    int before = renewals.get();
    Await.until("it is renewed twice", () -> renewals.get() >= before + 2);
    assertThat(hold.isValid()).isTrue();
    assertThat(other.lock("x", RENEWED).tryAcquire()).isEmpty();
    assertThat(hold.release()).isTrue();
    try (Hold next = other.lock("x", RENEWED).tryAcquire().orElseThrow()) {
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** A new client is content with a majority of connections; here all nodes have to have voted. */
  private static Hold acquireEverywhere(DistributedLock lock) {
    return Await.present("all nodes vote for a hold", () -> {
      Optional<Hold> hold = tried(lock);
      if (hold.isPresent() && !SHARED.get().haveAllVoted(lock.name())) {
        hold.get().close();
        return Optional.empty();
      }
      return hold;
    });
  }

  /** Tries once: nobody has it if no majority said in time, which a busy machine may be the reason of. */
  private static Optional<Hold> tried(DistributedLock lock) {
    try {
      return lock.tryAcquire();
    } catch (AcquireUnknownException | StoreUnavailableException e) {
      // what was accepted is taken back
      return Optional.empty();
    }
  }

  private static void count(LockEvent event, AtomicInteger renewals) {
    if (event instanceof LockEvent.Renewed) {
      renewals.incrementAndGet();
    }
  }

  /** Two nodes do not answer: no request waits for them, nor until their connections are given up. */
  @Test
  void minorityPaused_delaysNothing() throws Exception {
    DistributedLock lock = client().lock("x", RENEWED);
    lock.acquire().close();
    pause(1);
    pause(2);
    long last = 0;
    int quick = 0;
    for (int i = 0; i < 20; i++) {
      long began = Ticker.system().nanos();
      Hold hold = lock.acquire();
      assertThat(hold.token()).isGreaterThan(last);
      last = hold.token();
      assertThat(hold.release()).isTrue();
      quick += Ticker.system().nanos() - began < QUICK.toNanos() ? 1 : 0;
    }
    assertThat(quick).as("if they were waited for, none would be").isGreaterThanOrEqualTo(15);
  }

  /** Three nodes are killed: the hold is lost in time, nobody else gets the lock, and it is not called busy. */
  @Test
  @MayWarn("the store did not confirm its end")
  @Warns("lock=x .*hold lost")
  void majorityKilled_stopsEverything() throws Exception {
    Hold hold = client().lock("x", RENEWED).acquire();
    DistributedLock other = client().lock("x", RENEWED);
    assertThat(other.tryAcquire()).isEmpty();
    kill(0);
    kill(1);
    kill(2);
    assertThatThrownBy(() -> other.tryAcquire().isPresent()).isInstanceOf(HoldfastException.class);
    Await.until("the hold is lost", () -> hold.state() == HoldState.LOST);
    assertThatThrownBy(() -> other.tryAcquire().isPresent()).isInstanceOf(HoldfastException.class);
  }

  /** Three nodes are killed and come back empty: nothing is granted while they abstain; then tokens have grown. */
  @Test
  @MayWarn("lock=x .*hold lost")
  void majorityRestarted_abstains_andThenGoesOn() throws Exception {
    RedlockNodes own = nodes(BRIEF_RULE);
    Hold hold = client(own).lock("x", BRIEF).acquire();
    DistributedLock other = client(own).lock("x", BRIEF);
    long began = Ticker.system().nanos();
    for (int i = 0; i < 3; i++) {
      own.server(i).restart();
    }
    try (Hold next = other.acquire(PLENTY)) {
      assertThat(Duration.ofNanos(Ticker.system().nanos() - began))
          .isGreaterThan(BRIEF_RULE.abstains());
      assertThat(hold.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** The nodes say how long they abstain; a wait without a limit goes on meanwhile. */
  @Test
  void restartedMajority_isWaitedFor_beyondStoreRetryFor() throws Exception {
    RedlockRule rule = new RedlockRule(NODES, Duration.ofSeconds(12), RULE.reach());
    RedlockNodes own = nodes(rule);
    for (int i = 0; i < 3; i++) {
      own.server(i).restart();
    }
    List<Duration> told = new CopyOnWriteArrayList<>();
    Holdfast impatient = Holdfast.builder()
        .store(own.store())
        .requestTimeout(REQUEST)
        .storeRetryFor(Duration.ofSeconds(8))
        .listener(event -> {
          if (event instanceof LockEvent.Retrying retrying) {
            retrying.readyIn().ifPresent(told::add);
          }
        })
        .build();
    open.add(impatient);
    LockOptions lasting = LockOptions.builder().leaseFor(rule.maxLease()).build();
    impatient.lock("x", lasting).acquire().close();
    assertThat(told).isNotEmpty().allMatch(each -> each.compareTo(rule.abstains()) <= 0);
  }

  /** How nodes forget. */
  enum Forgets {
    RESTART,
    OLD_SNAPSHOT,
    FLUSH,
    EVICTION
  }

  /**
   * A hold has exactly a majority, and one of its nodes forgets it; so do two that were dead. Those three would be a
   * majority for somebody else, while the hold is still valid.
   */
  @ParameterizedTest
  @EnumSource(Forgets.class)
  @MayWarn("lock=x .*hold lost")
  void forgottenVote_isNotGivenAgain(Forgets how) throws Exception {
    RedlockNodes own = nodes(BRIEF_RULE);
    Hold hold = makeRoomForTwo(own, how, FIXED);
    try (Hold next = client(own).lock("x", FIXED).acquire(PLENTY)) {
      assertThat(hold.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** The same without the marker's word that they may have forgotten: two hold the lock. */
  @ParameterizedTest
  @EnumSource(Forgets.class)
  void forgottenVote_withoutTheMarker_isGivenTwice(Forgets how) throws Exception {
    RedlockNodes own = nodes(LASTING_RULE);
    Hold hold = makeRoomForTwo(own, how, LASTING);
    for (int i = 2; i < NODES; i++) {
      own.mayVote(i);
    }
    try (Hold next = client(own).lock("x", LASTING).acquire(PLENTY)) {
      assertThat(hold.isValid()).isTrue();
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  /** Acquires at three nodes; then one of them forgets it, and the other two are there again. */
  private Hold makeRoomForTwo(RedlockNodes all, Forgets how, LockOptions options) throws Exception {
    if (how == Forgets.OLD_SNAPSHOT) {
      for (int i = 2; i < NODES; i++) {
        all.redis(i).save();
      }
    }
    all.server(3).kill();
    all.server(4).kill();
    Hold hold = client(all).lock("x", options).acquire();
    all.server(3).start();
    all.server(4).start();
    forget(all, 2, how);
    return hold;
  }

  private static void forget(RedlockNodes all, int node, Forgets how) {
    switch (how) {
      case RESTART, OLD_SNAPSHOT -> all.server(node).restart();
      case FLUSH -> all.redis(node).flushall();
      case EVICTION -> {
        all.redis(node).configSet("maxmemory-policy", "allkeys-random");
        all.redis(node).configSet("maxmemory", "1");
        Await.until("the record is evicted", () -> {
          all.redis(node).get("any");
          return all.redis(node).exists("holdfast:{x}") == 0;
        });
        all.redis(node).configSet("maxmemory", "0");
      }
    }
  }

  /** A hold that exactly a majority accepted is renewed by it, and is lost in time with one node less. */
  @Test
  @Warns("lock=x .*hold lost")
  void exactMajority_renews_andDiesWithOneNode() throws Exception {
    kill(3);
    kill(4);
    AtomicInteger renewals = new AtomicInteger();
    Hold hold = client(event -> count(event, renewals)).lock("x", RENEWED).acquire();
    Await.until("it is renewed twice", () -> renewals.get() >= 2);
    assertThat(hold.isValid()).isTrue();
    SHARED.get().server(2).restart();
    Await.until("the hold is lost", () -> hold.state() == HoldState.LOST);
  }

  /** Clients that propose at the same time, again and again: one at a time, and tokens only grow. */
  @Test
  void splitVotes_excludeEachOther_andTokensGrow() throws Exception {
    int clients = 3;
    int rounds = 60;
    AtomicInteger inside = new AtomicInteger();
    List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      List<CompletableFuture<Void>> done = new ArrayList<>();
      for (int c = 0; c < clients; c++) {
        DistributedLock lock = client().lock("x", RENEWED);
        done.add(CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < rounds; i++) {
                try (Hold hold = acquire(lock)) {
                  assertThat(inside.incrementAndGet()).isEqualTo(1);
                  tokens.add(hold.token());
                  inside.decrementAndGet();
                  assertThat(hold.isValid()).isTrue();
                }
              }
            },
            threads));
      }
      CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)).get();
    } finally {
      threads.shutdownNow();
    }
    assertThat(tokens).hasSize(clients * rounds).isSorted().doesNotHaveDuplicates();
  }

  /** A try never waits for a holder, so that all try at once. */
  private static Hold acquire(DistributedLock lock) {
    long began = Ticker.system().nanos();
    while (Ticker.system().nanos() - began < PLENTY.toNanos()) {
      Optional<Hold> hold = tried(lock);
      if (hold.isPresent()) {
        return hold.get();
      }
      Thread.onSpinWait();
    }
    throw new AssertionError("tried for " + PLENTY + " in vain");
  }

  /** A waiter is told by the nodes: it need not look by itself. */
  @Test
  void release_isToldToAWaiter() throws Exception {
    // neither the end of the lease nor the next poll comes so soon
    LockOptions longest = LockOptions.builder().leaseFor(RULE.maxLease()).build();
    Holdfast first = client();
    DistributedLock second = client().lock("x", longest);
    int soon = 0;
    for (int i = 0; i < 10; i++) {
      Hold hold = first.lock("x", longest).acquire();
      CompletableFuture<Hold> waiter = second.acquireAsync();
      Await.until(
          "a majority of the nodes knows the waiter",
          () -> first.admin().inspect("x").orElseThrow().waiters().known() == 1);
      long released = Ticker.system().nanos();
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
      soon += Ticker.system().nanos() - released < Duration.ofMillis(800).toNanos() ? 1 : 0;
    }
    assertThat(soon).as("by looking alone hardly one would be").isGreaterThanOrEqualTo(8);
  }

  /** New nodes do not vote, and that is said. */
  @Test
  void newNodes_abstain_andSaySo() throws Exception {
    for (int i = 0; i < NODES; i++) {
      SHARED.get().redis(i).flushall();
    }
    DistributedLock lock = client().lock("x", RENEWED);
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("may have forgotten locks and do not vote");
    lock.acquire(PLENTY.plus(RULE.abstains())).close();
  }

  /** All clients of a set of nodes agree on the longest lease. */
  @Test
  void otherMaxLease_isRefused() {
    String uri = SHARED.get().uri().replaceAll("max-lease=.*", "max-lease=1h");
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("all clients of a set of nodes must have the same");
  }

  /** One server under three names is no majority of three. */
  @Test
  void oneServerTwice_isRefused() {
    int port = SHARED.get().server(0).port();
    String uri = "redlock://127.0.0.1:" + port + ",localhost:" + port + ",127.1:" + port
        + "?holdfast.max-lease=" + RULE.maxLease().toSeconds() + "s";
    assertThatThrownBy(() -> Holdfast.connect(uri).close())
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("are one and the same server");
  }

  /** A lease above the longest is refused before anything is asked. */
  @Test
  void leaseAboveTheLongest_isRefused() {
    Holdfast client = client();
    LockOptions tooLong =
        LockOptions.builder().leaseFor(RULE.maxLease().plusMillis(1)).build();
    assertThatThrownBy(() -> client.lock("x", tooLong).name())
        .isInstanceOf(IllegalArgumentException.class);
    LockOptions kept =
        RENEWED.toBuilder().holdAtLeast(RULE.maxLease().plusSeconds(1)).build();
    assertThatThrownBy(() -> client.lock("x", kept).name())
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** The doctor says which nodes vote. */
  @Test
  void doctor_saysWhoVotes() {
    assertThat(diagnosis().levels())
        .containsEntry("majority", Level.OK)
        .containsEntry("clocks", Level.OK);
    SHARED.get().redis(0).flushall();
    kill(1);
    assertThat(diagnosis().levels())
        .containsEntry("majority", Level.WARNING)
        .containsEntry("vote of 127.0.0.1:" + SHARED.get().server(0).port(), Level.WARNING)
        .containsEntry("node 127.0.0.1:" + SHARED.get().server(1).port(), Level.PROBLEM);
    SHARED.get().redis(2).flushall();
    assertThat(diagnosis().levels()).containsEntry("majority", Level.PROBLEM);
  }

  /** A user with exactly the permissions that doctor prints can do everything. */
  @Test
  void aclLine_isEnough() throws Exception {
    List<String> rules = diagnosis().rules("secret");
    for (int i = 0; i < NODES; i++) {
      SHARED.get().server(i).setUser("me", rules);
    }
    String uri = SHARED.get().uri().replace("//", "//me:secret@");
    try (Holdfast me = Holdfast.builder().store(uri).requestTimeout(REQUEST).build()) {
      // with the reach of the product: the marker is the same
      Hold hold = me.lock("x", RENEWED).acquire();
      CompletableFuture<Hold> waiter = client().lock("x", RENEWED).acquireAsync();
      Await.until(
          "it waits", () -> me.admin().inspect("x").orElseThrow().waiters().known() == 1);
      assertThat(me.admin().list("")).hasSize(1);
      assertThat(hold.release()).isTrue();
      assertThat(Await.value(waiter).release()).isTrue();
    }
  }

  private static Diagnosis diagnosis() {
    return Diagnosis.of(SHARED.get().store(FAR_REACH));
  }

  /** What is no lock of ours is refused and left alone, and a lock of the plain store is not ours. */
  @Test
  void foreignRecord_isLeftAlone() {
    for (int i = 0; i < NODES; i++) {
      SHARED.get().redis(i).hset("holdfast:{x}", "v", "1");
    }
    DistributedLock lock = client().lock("x", RENEWED);
    assertThatThrownBy(() -> lock.acquire().close()).isInstanceOf(HoldfastException.class);
    assertThat(SHARED.get().redis(0).hgetall("holdfast:{x}")).isEqualTo(Map.of("v", "1"));
  }
}
