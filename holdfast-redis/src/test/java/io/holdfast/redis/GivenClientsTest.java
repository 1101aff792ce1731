// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
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
import org.junit.jupiter.api.Test;

/** Stores on the application's own clients: they do all that others do, and leave the clients open. */
class GivenClientsTest {
  private static final LockOptions LONG =
      LockOptions.builder().leaseFor(Duration.ofMinutes(10)).build();

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
    open.add(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(1)));
    return client;
  }

  private Holdfast holdfast(LockStore store) {
    return opened(Holdfast.builder().store(store).build());
  }

  /** Locks, waits and is handed over to, on this store and against another client of the same servers. */
  private static void assertWorks(Holdfast one, Holdfast other) throws Exception {
    Hold hold = one.lock("x", LONG).acquire();
    assertThat(other.lock("x", LONG).tryAcquire()).isEmpty();
    CompletableFuture<Hold> waiter = other.lock("x", LONG).acquireAsync();
    Await.until(
        "somebody waits",
        () -> one.admin().inspect("x").map(found -> found.waiters() == 1).orElse(false));
    assertThat(hold.release()).isTrue();
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    CompletableFuture<Hold> back = one.lock("x", LONG).acquireAsync();
    Await.until(
        "somebody waits",
        () -> one.admin().inspect("x").map(found -> found.waiters() == 1).orElse(false));
    assertThat(next.release()).isTrue();
    assertThat(Await.value(back).release()).isTrue();
  }

  @Test
  void oneServer_withItsAddress() throws Exception {
    RedisServer server = opened(RedisServer.forgetful());
    RedisClient client = client(server.uri());
    RedisURI uri = RedisURI.create("127.0.0.1", server.port());
    Holdfast given = holdfast(RedisStore.using(client, uri));
    assertWorks(given, opened(Holdfast.connect(server.uri())));
    given.close();
    try (var connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
    }
  }

  /** The store finds the primary, and follows a failover. */
  @Test
  void sentinels_areAskedAndListenedTo() throws Exception {
    SentinelServers servers = opened(new SentinelServers(Duration.ofMillis(500), ""));
    String sentinels = servers.uri().substring("redis-sentinel://".length());
    RedisURI.Builder uri =
        RedisURI.builder().withSentinelMasterId(sentinels.substring(sentinels.indexOf('/') + 1));
    for (String each : sentinels.substring(0, sentinels.indexOf('/')).split(",", -1)) {
      uri.withSentinel("127.0.0.1", Integer.parseInt(each.substring(each.indexOf(':') + 1)));
    }
    RedisURI address = uri.build();
    RedisClient client = RedisClient.create(address);
    open.add(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(1)));
    RedisStore store = RedisStore.using(client, address);
    assertThat(store.guarantees().store()).isEqualTo("Redis Sentinel");
    Holdfast given = holdfast(store);
    Holdfast other = opened(Holdfast.connect(servers.uri()));
    assertWorks(given, other);
    Hold hold = given.lock("y", LONG).acquire();
    RedisServer former = servers.primary();
    servers.failover();
    servers.awaitPrimaryIsNot(former);
    Await.until(
        "it is renewed at the new primary",
        () -> hold.state() == HoldState.HELD && other.admin().inspect("y").isPresent());
    Await.until("it can be released", () -> releases(hold));
    given.close();
    try (var connection = client.connect()) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
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
    open.add(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(1)));
    Holdfast given = holdfast(RedisStore.using(client));
    Holdfast other = opened(Holdfast.connect(servers.uri()));
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

  /** A cluster that cannot be reached is told, and found when it can. */
  @Test
  void cluster_thatIsNotThere_isTold() {
    RedisClusterClient client = RedisClusterClient.create("redis://127.0.0.1:1");
    open.add(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(1)));
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
    assertWorks(given, opened(Holdfast.connect(nodes.uri())));
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
}
