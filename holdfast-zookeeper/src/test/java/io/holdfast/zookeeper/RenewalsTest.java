// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import io.holdfast.zookeeper.NodeData.KeptLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A renewal lists only what has changed, and misses no change. */
@Timeout(120)
@Tag("stores")
class RenewalsTest {
  private static final AtomicInteger ROOTS = new AtomicInteger();

  /** A list of so many bytes has the names of 40 nodes. */
  private static final int SHORT_ANSWER = 4096;

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final String root = "/renewals/" + ROOTS.incrementAndGet();
  private final String uri = "zookeeper://" + server.address() + root;
  private final HookedClients clients = HookedClients.at(uri);
  private StoreByHand one;
  private StoreByHand other;

  @BeforeEach
  void connect() {
    one = new StoreByHand("1", clients.store(uri));
    other = new StoreByHand("2", HookedClients.at(uri).store(uri));
  }

  @AfterEach
  void close() {
    one.close();
    other.close();
  }

  private Claim held(String name) {
    Claim claim = one.claim(name);
    one.granted(claim);
    return claim;
  }

  /** Holds locks of the names 0, 1, 2, ... */
  private List<Claim> held(int number) {
    List<Claim> all = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      all.add(held(Integer.toString(i)));
    }
    return all;
  }

  private Map<ClaimId, Kept> keep(List<Claim> claims) {
    return Await.value(one.store.keep(claims));
  }

  private Grant stillHeld(Claim claim) {
    return assertInstanceOf(Kept.Held.class, one.keep(claim)).grant();
  }

  private void evict(Claim claim) {
    long revision = Await.value(other.store.inspect(claim.name())).orElseThrow().token() >> 8;
    assertTrue(Await.value(other.store.evict(claim.name(), revision)));
  }

  /** Renews, and returns how many lists that took. */
  private int listsToKeep(Claim claim, Class<? extends Kept> expected) {
    int before = clients.lists();
    assertInstanceOf(expected, one.keep(claim));
    return clients.lists() - before;
  }

  @Test
  void untouched_isNotListed() {
    List<Claim> claims = held(250);
    for (int i = 0; i < 3; i++) {
      int lists = clients.lists();
      int multis = clients.multis();
      int agreements = clients.agreements();
      Map<ClaimId, Kept> kept = keep(claims);
      for (Claim each : claims) {
        Grant grant = assertInstanceOf(Kept.Held.class, kept.get(each.id())).grant();
        assertEquals(each.lease(), grant.lease());
      }
      assertEquals(claims.size(), kept.size());
      assertEquals(0, clients.lists() - lists);
      assertEquals(3, clients.multis() - multis);
      assertEquals(1, clients.agreements() - agreements);
    }
  }

  /** It counts from before the request that a majority has agreed on, not from an answer. */
  @Test
  void untouched_countsFromTheQuestion() {
    Claim claim = held("a");
    one.forward(Duration.ofSeconds(10));
    long asked = one.nanos();
    clients.beforeMulti(() -> one.forward(Duration.ofSeconds(1)));
    assertEquals(asked, stillHeld(claim).anchor().nanos());
  }

  @Test
  void evicted_isGone() {
    Claim claim = held("a");
    stillHeld(claim);
    evict(claim);
    assertEquals(1, listsToKeep(claim, Kept.Gone.class));
    assertEquals(0, listsToKeep(claim, Kept.Gone.class));
  }

  /** Its place is taken at once, so that the folder has as many nodes as before. */
  @Test
  void evictedAndReplaced_isGone() {
    Claim claim = held("a");
    stillHeld(claim);
    evict(claim);
    other.granted(other.claim("a"));
    assertInstanceOf(Kept.Gone.class, one.keep(claim));
  }

  @Test
  void evictedBeforeAWaiter_isGone() {
    Claim claim = held("a");
    Claim waiter = other.claim("a");
    other.busy(waiter, Mode.QUEUE);
    assertTrue(stillHeld(claim).othersWait());
    evict(claim);
    assertInstanceOf(Kept.Gone.class, one.keep(claim));
    Await.until("the next one has it", () -> other.wasGranted(waiter));
  }

  /** The eviction comes between the request for a majority and the look at the folder. */
  @Test
  void evictedMeanwhile_isGone() {
    Claim claim = held("a");
    clients.beforeMulti(() -> evict(claim));
    assertInstanceOf(Kept.Gone.class, one.keep(claim));
  }

  @Test
  void waiters_areNoticedWhenTheyComeAndGo() {
    Claim claim = held("a");
    assertEquals(false, stillHeld(claim).othersWait());
    Claim waiter = other.claim("a");
    other.busy(waiter, Mode.QUEUE);
    assertEquals(true, stillHeld(claim).othersWait());
    int lists = clients.lists();
    // and are remembered
    assertEquals(true, stillHeld(claim).othersWait());
    assertEquals(lists, clients.lists());
    other.end(waiter, Duration.ZERO);
    assertEquals(false, stillHeld(claim).othersWait());
  }

  /** One is evicted, and of another one all is gone, up to its folder: nobody else is listed. */
  @Test
  void manyInARequest_doNotDisturbEachOther() throws Exception {
    List<Claim> claims = held(5);
    keep(claims);
    evict(claims.get(1));
    try (CuratorFramework curator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100))) {
      curator.start();
      String folder = new ZooKeeperPaths(root).folder(LockKey.of("3"));
      curator.delete().deletingChildrenIfNeeded().forPath(folder);
    }
    int before = clients.lists();
    Map<ClaimId, Kept> kept = keep(claims);
    for (int i = 0; i < claims.size(); i++) {
      Class<? extends Kept> expected = i == 1 || i == 3 ? Kept.Gone.class : Kept.Held.class;
      assertInstanceOf(expected, kept.get(claims.get(i).id()));
    }
    assertEquals(1, clients.lists() - before);
  }

  /** The claim is asked for again, and has another node in the same folder. */
  @Test
  void madeAnew_isListedAnew() {
    Claim claim = held("a");
    long first = stillHeld(claim).revision();
    evict(claim);
    assertInstanceOf(Kept.Gone.class, one.keep(claim));
    long second = one.granted(claim).revision();
    assertTrue(second > first);
    assertEquals(second, stillHeld(claim).revision());
    evict(claim);
    assertInstanceOf(Kept.Gone.class, one.keep(claim));
  }

  /** A claim that waits is where it was; one that was told of the grant has seen no list yet that shows it. */
  @Test
  void grantedByAMessage_isListedOnce() {
    Claim holder = other.claim("a");
    other.granted(holder);
    Claim waiter = one.claim("a");
    one.busy(waiter, Mode.QUEUE);
    assertEquals(0, listsToKeep(waiter, Kept.Queued.class));
    assertEquals(0, listsToKeep(waiter, Kept.Queued.class));
    other.end(holder, Duration.ZERO);
    Await.until("it is told", () -> one.wasGranted(waiter));
    assertEquals(1, listsToKeep(waiter, Kept.Held.class));
    assertEquals(0, listsToKeep(waiter, Kept.Held.class));
  }

  /** The folder is as it was on this server, which may be cut off from the others. */
  @Test
  void withoutAMajority_isUnknown() {
    Claim claim = held("a");
    clients.nextAgreementIs(Code.CONNECTIONLOSS);
    assertEquals(0, listsToKeep(claim, Kept.Unknown.class));
    assertEquals(0, listsToKeep(claim, Kept.Held.class));
  }

  /** A server that looks at permissions before it asks the others says this alone. */
  @Test
  void forbiddenAgreement_isNone() {
    Claim claim = held("a");
    clients.nextAgreementIs(Code.NOAUTH);
    assertEquals(0, listsToKeep(claim, Kept.Unknown.class));
    assertEquals(0, listsToKeep(claim, Kept.Held.class));
  }

  /** What broke the connection may have been the answer's length: the next time the folder is asked for alone, and listed. */
  @Test
  void lostAnswer_isUnknown_andListedThen() {
    Claim claim = held("a");
    clients.nextMultiIs(Code.CONNECTIONLOSS);
    assertEquals(0, listsToKeep(claim, Kept.Unknown.class));
    int multis = clients.multis();
    assertEquals(1, listsToKeep(claim, Kept.Held.class));
    assertEquals(multis, clients.multis());
    assertEquals(0, listsToKeep(claim, Kept.Held.class));
  }

  /** A client that takes no long answers asks for fewer folders at a time. */
  @Test
  void manyFolders_areReadInAnswersOfALengthThatTheClientTakes() {
    one.close();
    clients.longestAnswer(SHORT_ANSWER);
    one = new StoreByHand("3", clients.store(uri));
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      claims.add(held("x".repeat(500) + i));
    }
    Map<ClaimId, Kept> kept = keep(claims);
    claims.forEach(each -> assertInstanceOf(Kept.Held.class, kept.get(each.id())));
    assertTrue(one.told.isEmpty(), one.told::toString);
  }

  // many in one folder

  /** Lets so many wait behind a holder that a list of them would be long. */
  private List<Claim> waiting(int number) {
    List<Claim> all = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      Claim claim = one.claim("a");
      one.busy(claim, Mode.QUEUE);
      all.add(claim);
    }
    return all;
  }

  @Test
  void longQueue_isListedByNoneOfItsClaims() {
    Claim holder = held("a");
    List<Claim> waiters = waiting(50);
    List<Claim> all = new ArrayList<>(waiters);
    all.add(holder);
    for (int i = 0; i < 2; i++) {
      int lists = clients.lists();
      int agreements = clients.agreements();
      Map<ClaimId, Kept> kept = keep(all);
      assertTrue(
          assertInstanceOf(Kept.Held.class, kept.get(holder.id())).grant().othersWait());
      waiters.forEach(each -> assertInstanceOf(Kept.Queued.class, kept.get(each.id())));
      assertEquals(0, clients.lists() - lists);
      assertEquals(1, clients.agreements() - agreements);
    }
    assertTrue(one.told.isEmpty(), one.told::toString);
  }

  /** What only waits promises nothing: a majority that was asked a moment ago is enough. */
  @Test
  void waiters_askAMajorityNowAndThen() {
    held("a");
    List<Claim> waiters = waiting(3);
    int before = clients.agreements();
    waiters.forEach(each -> assertInstanceOf(Kept.Queued.class, one.keep(each)));
    assertEquals(0, clients.agreements() - before);
    one.forward(Duration.ofSeconds(3));
    waiters.forEach(each -> assertInstanceOf(Kept.Queued.class, one.keep(each)));
    assertEquals(1, clients.agreements() - before);
  }

  /** A majority that one of them is just asking need not be asked by the next. */
  @Test
  void waiters_askAMajorityTogether() {
    held("a");
    List<Claim> waiters = waiting(2);
    one.forward(Duration.ofSeconds(3));
    int before = clients.agreements();
    AtomicReference<@Nullable CompletionStage<Map<ClaimId, Kept>>> second = new AtomicReference<>();
    clients.beforeAgreement(() -> second.set(one.store.keep(List.of(waiters.get(1)))));
    assertInstanceOf(Kept.Queued.class, one.keep(waiters.get(0)));
    Map<ClaimId, Kept> kept = Await.value(Objects.requireNonNull(second.get()));
    assertInstanceOf(Kept.Queued.class, kept.get(waiters.get(1).id()));
    assertEquals(1, clients.agreements() - before);
  }

  @Test
  void evictedFromALongQueue_isGone() {
    Claim holder = held("a");
    List<Claim> waiters = waiting(50);
    evict(holder);
    assertInstanceOf(Kept.Gone.class, one.keep(holder));
    Await.until("the next one has it", () -> one.wasGranted(waiters.get(0)));
    assertInstanceOf(Kept.Held.class, one.keep(waiters.get(0)));
    assertInstanceOf(Kept.Queued.class, one.keep(waiters.get(49)));
  }

  /** The node ahead is gone, and its deletion was not told. */
  @Test
  void waiterInALongQueue_whoseNodeAheadIsGone_looksAgain() {
    held("a");
    List<Claim> waiters = waiting(50);
    Claim last = other.claim("a");
    other.busy(last, Mode.QUEUE);
    assertEquals(Ended.Outcome.WITHDRAWN, one.end(waiters.get(49), Duration.ZERO));
    Await.until("it is told", () -> other.told.size() == 1);
    assertInstanceOf(Kept.Queued.class, other.keep(last));
    assertEquals(
        List.of("lookAgain " + last.id(), "lookAgain " + last.id()), List.copyOf(other.told));
    other.busy(last, Mode.QUEUE);
    assertInstanceOf(Kept.Queued.class, other.keep(last));
    assertEquals(2, other.told.size());
  }

  /** A claim that waits is asked for again, as after each broken connection: it looks for two nodes. */
  @Test
  void waiterThatIsAskedForAgain_listsNothing() throws Exception {
    held("a");
    List<Claim> waiters = waiting(50);
    int before = clients.lists();
    // but the next one, beside its look at the holder, which may just be leaving
    waiters.subList(1, 50).forEach(each -> one.busy(each, Mode.QUEUE));
    assertEquals(0, clients.lists() - before);
    try (CuratorFramework curator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100))) {
      curator.start();
      String folder = new ZooKeeperPaths(root).folder(LockKey.of("a"));
      String node = curator.getChildren().forPath(folder).stream()
          .filter(name -> name.startsWith("q-" + waiters.get(20).id() + "-"))
          .findFirst()
          .orElseThrow();
      curator.delete().forPath(folder + "/" + node);
    }
    StoreException ended =
        assertInstanceOf(StoreException.class, Await.failure(one.ask(waiters.get(20), Mode.QUEUE)));
    assertTrue(String.valueOf(ended.getMessage()).contains("was ended"));
  }

  /** It grows behind those that wait in it, until a list of it is longer than their client takes. */
  @Test
  void queueThatGrowsBeyondTheClientsBuffer_disturbsNothing() {
    one.close();
    clients.longestAnswer(SHORT_ANSWER);
    one = new StoreByHand("3", clients.store(uri));
    Claim elsewhere = held("b");
    Claim holder = held("a");
    List<Claim> waiters = waiting(20);
    for (int i = 0; i < 40; i++) {
      other.busy(other.claim("a"), Mode.QUEUE);
    }
    List<Claim> all = new ArrayList<>(waiters);
    all.add(holder);
    all.add(elsewhere);
    Map<ClaimId, Kept> kept = keep(all);
    assertTrue(assertInstanceOf(Kept.Held.class, kept.get(holder.id())).grant().othersWait());
    assertInstanceOf(Kept.Held.class, kept.get(elsewhere.id()));
    waiters.forEach(each -> assertInstanceOf(Kept.Queued.class, kept.get(each.id())));
    waiters.forEach(each -> one.busy(each, Mode.QUEUE));
    assertTrue(one.told.isEmpty(), one.told::toString);
    one.end(holder, Duration.ZERO);
    Await.until("the next one has it", () -> one.wasGranted(waiters.get(0)));
    assertInstanceOf(Kept.Held.class, one.keep(waiters.get(0)));
    assertInstanceOf(Kept.Held.class, one.keep(elsewhere));
  }

  /** It may be the next, or have been granted by a message that is under way: its node is not taken away. */
  @Test
  void waiterThatCannotListTheQueue_staysInIt() {
    one.close();
    clients.longestAnswer(SHORT_ANSWER);
    one = new StoreByHand("3", clients.store(uri));
    Claim holder = other.claim("a");
    other.granted(holder);
    List<Claim> waiters = waiting(2);
    List<Claim> crowd = new ArrayList<>();
    for (int i = 0; i < 45; i++) {
      Claim each = other.claim("a");
      other.busy(each, Mode.QUEUE);
      crowd.add(each);
    }
    Claim next = waiters.get(1);
    one.end(waiters.get(0), Duration.ZERO);
    one.awaitLookAgain(next);
    other.end(holder, Duration.ZERO);
    for (int i = 0; i < 2; i++) {
      StoreException failure =
          assertInstanceOf(StoreException.class, Await.failure(one.ask(next, Mode.QUEUE)));
      assertEquals(Reason.UNREACHABLE, failure.reason());
      assertFalse(failure.notApplied());
    }
    assertInstanceOf(Kept.Queued.class, one.keep(next));
    crowd.forEach(each -> other.end(each, Duration.ZERO));
    one.granted(next);
  }

  /**
   * More wait than the client takes a list of: the next one is told so, and leaves nothing in the queue. Those that are in it,
   * and other locks, do not notice.
   */
  @Test
  void queueBeyondTheClientsBuffer_disturbsNothing() {
    Claim holder = other.claim("a");
    other.granted(holder);
    for (int i = 0; i < 40; i++) {
      other.busy(other.claim("a"), Mode.QUEUE);
    }
    one.close();
    clients.longestAnswer(SHORT_ANSWER);
    one = new StoreByHand("3", clients.store(uri));
    Claim elsewhere = held("b");
    Claim waiter = one.claim("a");
    for (int i = 0; i < 3; i++) {
      StoreException full =
          assertInstanceOf(StoreException.class, Await.failure(one.ask(waiter, Mode.QUEUE)));
      assertEquals(Reason.FULL, full.reason());
      assertTrue(String.valueOf(full.getMessage()).contains("jute.maxbuffer"));
      assertInstanceOf(StoreException.class, Await.failure(one.ask(one.claim("a"), Mode.TRY)));
      assertInstanceOf(Kept.Held.class, one.keep(elsewhere));
    }
    assertTrue(one.told.isEmpty(), one.told::toString);
    assertEquals(
        40,
        Await.value(other.store.inspect(holder.name())).orElseThrow().waiters().known());
  }

  /** A server that has too much to do gets no lists on top of it. */
  @Test
  void throttledAnswer_isUnknown() {
    Claim claim = held("a");
    clients.nextMultiIs(Code.THROTTLEDOP);
    assertEquals(0, listsToKeep(claim, Kept.Unknown.class));
    assertEquals(0, listsToKeep(claim, Kept.Held.class));
  }

  /** A marker says that the lock was kept before: so it must not have been granted, and its node is taken away. */
  @Test
  void grantedThoughKept_isGone() throws Exception {
    Claim claim = held("a");
    // which shows that nobody can be overdue for a while
    one.sweep();
    String folder = new ZooKeeperPaths(root).folder(claim.name());
    String marker = ZooKeeperPaths.marker(folder, 1);
    try (CuratorFramework curator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100))) {
      curator.start();
      curator.create().forPath(marker, NodeData.write(new KeptLock(Long.MAX_VALUE, 1)));
      assertInstanceOf(Kept.Gone.class, one.keep(claim));
      assertEquals(2, curator.getChildren().forPath(folder).size());
      one.forward(Duration.ofMillis(1));
      one.sweep();
      Await.until("its node is gone", () -> childrenOf(curator, folder) == 1);
    }
  }

  private static int childrenOf(CuratorFramework curator, String folder) {
    try {
      return curator.getChildren().forPath(folder).size();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The paths that are read together are below the root of a client that was given, too. */
  @Test
  void chrootOfAGivenClient_isKeptTo() throws Exception {
    try (CuratorFramework all =
            CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
        CuratorFramework jailed = CuratorFrameworkFactory.newClient(
            server.address() + root + "/jail", new RetryOneTime(100))) {
      all.start();
      all.create().creatingParentsIfNeeded().forPath(root + "/jail");
      jailed.start();
      try (StoreByHand inner =
          new StoreByHand("3", ZooKeeperStore.using(jailed, ZooKeeperSettings.defaults()))) {
        Claim claim = inner.claim("a");
        inner.granted(claim);
        assertInstanceOf(Kept.Held.class, inner.keep(claim));
        long revision =
            Await.value(inner.store.inspect(claim.name())).orElseThrow().token() >> 8;
        assertTrue(Await.value(inner.store.evict(claim.name(), revision)));
        assertInstanceOf(Kept.Gone.class, inner.keep(claim));
      }
    }
  }

  /** The server does not read several nodes at once: they are read one by one. */
  @Test
  void refusedAnswer_isAskedForOneByOne() {
    List<Claim> claims = held(3);
    clients.nextMultiIs(Code.UNIMPLEMENTED);
    int before = clients.lists();
    Map<ClaimId, Kept> kept = keep(claims);
    for (Claim each : claims) {
      assertInstanceOf(Kept.Held.class, kept.get(each.id()));
    }
    assertEquals(0, clients.lists() - before);
    evict(claims.get(1));
    clients.nextMultiIs(Code.UNIMPLEMENTED);
    assertInstanceOf(Kept.Gone.class, keep(claims).get(claims.get(1).id()));
  }
}
