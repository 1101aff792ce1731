// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.LockStore;
import io.holdfast.testkit.Await;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Stores on the application's own clients: they do all that others do, and leave the clients open. */
@Tag("stores")
class GivenClientsTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

  /** None of them is the default. */
  private static final RedisSettings SETTINGS = RedisSettings.builder()
      .prefix("mine:")
      .retention(Duration.ofHours(2))
      .replicas(1)
      .replicasTimeout(Duration.ofSeconds(4))
      .build();

  /** What says the same in an address. */
  private static final String PARAMETERS =
      "?holdfast.prefix=mine:&holdfast.retention=2h&holdfast.replicas=1&holdfast.replicas-timeout=4s";

  /** More than twice the time of the replica, and enough for what is to be answered on a slow machine. */
  private static final Duration PATIENT = Duration.ofSeconds(10);

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private <C extends AutoCloseable> C opened(C closeable) {
    open.add(closeable);
    return closeable;
  }

  private RedisClient client(String uri) {
    RedisClient client = RedisClient.create(uri);
    open.add(() -> Direct.close(client));
    return client;
  }

  private Holdfast holdfast(LockStore store) {
    return opened(Holdfast.builder().store(store).requestTimeout(PATIENT).build());
  }

  private Holdfast holdfast(String uri) {
    return opened(Holdfast.builder().store(uri).requestTimeout(PATIENT).build());
  }

  /** Locks, waits and is handed over to, on this store and against another client of the same servers. */
  private static void assertWorks(Holdfast one, Holdfast other) throws Exception {
    Hold hold = one.lock("x", LONG).acquire();
    assertThat(other.lock("x", LONG).tryAcquire()).isEmpty();
    CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
    Await.until(
        "somebody waits",
        () ->
            one.admin().inspect("x").map(found -> found.waiters().known() == 1).orElse(false));
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    CompletableFuture<Hold> back = one.lock("x", LONG).acquireAsync();
    Await.until(
        "somebody waits",
        () ->
            one.admin().inspect("x").map(found -> found.waiters().known() == 1).orElse(false));
    assertThat(next.release()).isTrue();
    assertThat(Await.value(back).release()).isTrue();
  }

  @Test
  void oneServer_withItsAddress() throws Exception {
    RedisServer server = opened(RedisServer.forgetful());
    RedisClient client = client(server.uri());
    RedisURI uri = RedisURI.create("127.0.0.1", server.port());
    Holdfast given = holdfast(RedisStore.using(client, uri));
    assertWorks(given, holdfast(server.uri()));
    given.close();
    try (var connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }

  /** The store finds the primary, and follows a failover. */
  @Test
  void sentinels_areAskedAndListenedTo() throws Exception {
    SentinelServers servers = opened(new SentinelServers(""));
    RedisURI address = address(servers);
    RedisClient client = RedisClient.create(address);
    open.add(() -> Direct.close(client));
    RedisStore store = RedisStore.using(client, address);
    assertThat(store.guarantees().store()).isEqualTo("Redis Sentinel");
    Holdfast given = holdfast(store);
    Holdfast other = holdfast(servers.uri());
    assertWorks(given, other);
    Hold hold = given.lock("y", LONG).acquire();
    RedisServer former = servers.primary();
    servers.failover();
    servers.awaitPrimaryIsNot(former);
    Await.until(
        "it is renewed at the new primary",
        () -> hold.state() == HoldState.HELD && isKnown(other, "y"));
    Await.until("it can be released", () -> releases(hold));
    given.close();
    try (var connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }

  private static RedisURI address(SentinelServers servers) {
    String sentinels = servers.uri().substring("redis-sentinel://".length());
    RedisURI.Builder uri =
        RedisURI.builder().withSentinelMasterId(sentinels.substring(sentinels.indexOf('/') + 1));
    for (String each : sentinels.substring(0, sentinels.indexOf('/')).split(",", -1)) {
      uri.withSentinel("127.0.0.1", Integer.parseInt(each.substring(each.indexOf(':') + 1)));
    }
    return uri.build();
  }

  private static boolean isKnown(Holdfast client, String lock) {
    try {
      return client.admin().inspect(lock).isPresent();
    } catch (StoreUnavailableException e) {
      // it is on its way to the new primary
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

  /** The nodes that the client knows are used, with locks at each of them. */
  @Test
  void cluster_isUsed() throws Exception {
    ClusterServers servers = opened(new ClusterServers(Duration.ofMinutes(1)));
    RedisClusterClient client = RedisClusterClient.create(
        "redis://127.0.0.1:" + servers.servers().get(1).port());
    open.add(() -> Direct.close(client));
    Holdfast given = holdfast(RedisStore.using(client));
    Holdfast other = holdfast(servers.uri());
    assertWorks(given, other);
    for (int i = 0; i < 30; i++) {
      try (Hold hold = given.lock("x" + i, LONG).acquire()) {
        assertThat(hold.isValid()).isTrue();
        assertThat(other.lock("x" + i, LONG).tryAcquire()).isEmpty();
      }
    }
    given.close();
    try (var connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }

  /** All nodes come back under other addresses, which the application's client finds out from its own. */
  @Test
  void cluster_thatComesBackElsewhere_isFound() throws Exception {
    ClusterServers former = new ClusterServers(Duration.ofMinutes(1));
    open.add(former);
    RespProxy name = opened(new RespProxy(former.servers().get(0).port()));
    RedisClusterClient client = RedisClusterClient.create(name.uri());
    open.add(() -> Direct.close(client));
    Holdfast given = opened(Holdfast.builder().store(RedisStore.using(client)).build());
    assertThat(given.lock("x", LONG).acquire().release()).isTrue();
    ClusterServers servers = opened(new ClusterServers(Duration.ofMinutes(1)));
    name.leadTo(servers.servers().get(0).port());
    former.servers().forEach(RedisServer::kill);
    name.cut();
    name.mend();
    Hold hold = given.lock("x", LONG).acquire(Duration.ofSeconds(60));
    Holdfast other = holdfast(servers.uri());
    assertThat(other.lock("x", LONG).tryAcquire()).isEmpty();
    assertThat(hold.release()).isTrue();
  }

  /** A cluster that cannot be reached is told, and found when it can. */
  @Test
  void cluster_thatIsNotThere_isTold() {
    RedisClusterClient client = RedisClusterClient.create("redis://127.0.0.1:1");
    open.add(() -> Direct.close(client));
    assertThatThrownBy(
            () -> Holdfast.builder().store(RedisStore.using(client)).build().close())
        .isInstanceOf(StoreUnavailableException.class);
  }

  /** A client for each node. */
  @Test
  void redlock_hasAClientForEachNode() throws Exception {
    RedlockNodes nodes =
        opened(new RedlockNodes(new RedlockRule(3, Duration.ofMinutes(20), RedlockRule.REACH)));
    RedisClient[] clients = new RedisClient[3];
    for (int i = 0; i < clients.length; i++) {
      clients[i] = client(nodes.server(i).uri());
    }
    Holdfast given = holdfast(RedlockStore.using(Duration.ofMinutes(20), clients));
    assertWorks(given, holdfast(nodes.uri()));
    nodes.server(0).kill();
    assertThat(given.lock("x", LONG).acquire().release()).isTrue();
    given.close();
    try (var connection = clients[1].connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
    RedisClient same = clients[1];
    assertThatThrownBy(() -> RedlockStore.using(same, same).close())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> RedlockStore.using(Duration.ZERO, same, same, same).close())
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** The record is where the prefix says, and stays for as long as the retention says; nothing is where the defaults are. */
  private static void assertStored(RedisServer server) {
    Duration left = Duration.ofMillis(server.call(redis -> redis.pttl("mine:{x}")));
    assertThat(left).isBetween(Duration.ofMinutes(115), Duration.ofMinutes(130));
    List<String> elsewhere = server.call(redis -> redis.keys("holdfast:*"));
    assertThat(elsewhere).isEmpty();
  }

  /** A grant that the one replica does not confirm is given back when its time is up, and the caller told. */
  private static void assertWaitsForReplica(Holdfast given, RedisServer replica) {
    assertThat(given.guarantees().exceptions())
        .anyMatch(each -> each.contains("holdfast.replicas=1"));
    replica.pause();
    try {
      assertThatThrownBy(() -> given.lock("x", LONG).tryAcquire().isPresent())
          .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
            assertThat(e.reason()).isEqualTo(Reason.NOT_REPLICATED);
            assertThat(e.getMessage()).contains("0 of the 1", "within 4 s");
          });
    } finally {
      replica.resume();
    }
    Await.until("it is given back", () -> given.admin().inspect("x").isEmpty());
  }

  private RedisServer replicaOf(RedisServer primary) {
    RedisServer replica = opened(RedisServer.with(
        "--appendonly", "no", "--replicaof", "127.0.0.1", Integer.toString(primary.port())));
    primary.awaitReplica(replica);
    return replica;
  }

  @Test
  void oneServer_withSettings() throws Exception {
    RedisServer server =
        opened(RedisServer.with("--appendonly", "no", "--repl-diskless-sync-delay", "0"));
    RedisServer replica = replicaOf(server);
    Holdfast given = holdfast(RedisStore.using(client(server.uri()), SETTINGS));
    assertWorks(given, holdfast(server.uri() + PARAMETERS));
    assertStored(server);
    assertWaitsForReplica(given, replica);
  }

  @Test
  void oneServer_withItsAddressAndSettings() throws Exception {
    RedisServer server =
        opened(RedisServer.with("--appendonly", "no", "--repl-diskless-sync-delay", "0"));
    RedisServer replica = replicaOf(server);
    RedisURI uri = RedisURI.create("127.0.0.1", server.port());
    Holdfast given = holdfast(RedisStore.using(client(server.uri()), uri, SETTINGS));
    assertWorks(given, holdfast(server.uri() + PARAMETERS));
    assertStored(server);
    assertWaitsForReplica(given, replica);
  }

  @Test
  void sentinels_withSettings() throws Exception {
    SentinelServers servers = opened(new SentinelServers(""));
    RedisURI address = address(servers);
    RedisClient client = RedisClient.create(address);
    open.add(() -> Direct.close(client));
    Holdfast given = holdfast(RedisStore.using(client, address, SETTINGS));
    assertWorks(given, holdfast(servers.uri() + PARAMETERS));
    assertStored(servers.primary());
    assertWaitsForReplica(given, servers.other(servers.primary()));
  }

  @Test
  void cluster_withSettings() throws Exception {
    ClusterServers servers = opened(new ClusterServers(Duration.ofMinutes(1)));
    RedisServer primary = servers.primary("x");
    RedisServer replica = servers.replicaOf(primary);
    RedisClusterClient client = RedisClusterClient.create(primary.uri());
    open.add(() -> Direct.close(client));
    Holdfast given = holdfast(RedisStore.using(client, SETTINGS));
    assertWorks(given, holdfast(servers.uri() + PARAMETERS));
    assertStored(primary);
    assertWaitsForReplica(given, replica);
  }

  @Test
  void redlock_withSettings() throws Exception {
    Duration maxLease = Duration.ofMinutes(20);
    RedlockNodes nodes = opened(new RedlockNodes(new RedlockRule(3, maxLease, RedlockRule.REACH)));
    RedisClient[] clients = new RedisClient[3];
    for (int i = 0; i < clients.length; i++) {
      clients[i] = client(nodes.server(i).uri());
      // without it, with another prefix, they would be new, and not vote yet
      nodes.redis(i).rename("holdfast:{}:m", "mine:{}:m");
    }
    RedisSettings settings = SETTINGS.toBuilder().replicas(0).build();
    Holdfast given = holdfast(RedlockStore.using(maxLease, settings, clients));
    assertWorks(given, holdfast(nodes.uri() + "&holdfast.prefix=mine:&holdfast.retention=2h"));
    assertStored(nodes.server(0));
    assertThatThrownBy(() -> RedlockStore.using(maxLease, SETTINGS, clients).close())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("replicas must be 0, not 1");
  }
}
