// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks on one Redis server, on the primary that sentinels know, or on the nodes of a cluster. {@link #using(RedisClient)}
 * makes one on the application's own Lettuce client; an address ({@code redis://localhost}) makes one with a client of its own.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *     .store(RedisStore.using(client)) // stays open when the client of the locks is closed
 *     .build();
 * }</pre>
 *
 * <pre>
 *   attempt, end             -> RedisLocks    -> one script each     \  RedisLink: a connection for commands,
 *   keep                     -> RedisRenewals -> one for many locks   | one for messages; or RedisCluster: a
 *   inspect, list, evict     -> RedisAdmin                            | connection to each node, and one
 *   pushed grants, own looks -> RedisWaits  &lt;- the client's channel   /
 * </pre>
 *
 * <p>A lock is a hash that only scripts change; waiters stand in a queue beside it, and a release hands the lock to the
 * first living one and tells its client alone. The driver never repeats a command.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #guarantees()} says what is given and what is not. It declares the weakest server: one that keeps nothing on
 * disk. {@link #diagnose()} tells what the real one does.
 *
 * <h2>Time</h2>
 *
 * The store's time is the server's clock, read once in each script; in a cluster that of the node that has the lock.
 *
 * <h2>Failure</h2>
 *
 * Without a connection, requests fail at once as not sent, and connections are opened again, at pauses of up to 0.6 s.
 * An application's client has 5 s for that, or twice the request's time if that is longer; then the next try begins.
 * A request that was under way when its connection broke is unknown. With sentinels, connections are also replaced when
 * one of them names another primary, and when the server says that it is a replica. In a cluster, a request that a node
 * refuses is sent to the one that has the lock now, for three quarters of the request's time.
 */
public final class RedisStore implements LockStore {
  private static final StoreTraits TRAITS = new StoreTraits(true, RedisWaits.LEASE, Duration.ZERO);

  private final String store;
  private final RedisOptions options;
  private final Topology topology;
  private final boolean tls;
  private volatile @Nullable Started started;

  /**
   * How Redis is run.
   *
   * @param guarantees what that gives
   * @param kind what doctor expects
   * @param route makes what leads to the servers
   * @param unused lets go of what was made before the store was started
   */
  private record Topology(
      Guarantees guarantees, RedisDoctor.Kind kind, RouteMaker route, Runnable unused) {}

  /** Makes what leads to the servers. */
  private interface RouteMaker {
    RedisRoute make(
        StoreRuntime runtime, StoreEvents events, RedisKeys keys, Consumer<byte[]> receiver);
  }

  /** What exists from {@link #start} on. */
  private record Started(
      RedisRoute route,
      RedisLocks locks,
      RedisRenewals renewals,
      RedisAdmin admin,
      RedisDoctor doctor) {}

  private RedisStore(String store, RedisOptions options, Topology topology, boolean tls) {
    this.store = store;
    this.options = options;
    this.topology = topology;
    this.tls = tls;
  }

  /**
   * Makes a store on the application's own client, with the default settings. Two connections are opened with it; the
   * client itself is left open by {@link #close()}.
   *
   * @param client a client that was made with the address of its server; for one that finds its primary through
   *     sentinels take {@link #using(RedisClient, RedisURI)}
   * @return a store, not started
   */
  public static RedisStore using(RedisClient client) {
    return using(client, RedisSettings.defaults());
  }

  /**
   * Makes a store on the application's own client, as {@link #using(RedisClient)} does, with settings. A third connection
   * is opened if replicas have to confirm.
   *
   * @param client a client that was made with the address of its server
   * @param settings how the locks are stored
   * @return a store, not started
   */
  public static RedisStore using(RedisClient client, RedisSettings settings) {
    Objects.requireNonNull(settings, "settings");
    Objects.requireNonNull(client, "client");
    RedisOptions options = RedisOptions.of(settings);
    String name = "redis (the application's client)";
    Topology topology = primary(
        name,
        RedisGuarantees.SINGLE,
        RedisDoctor.Kind.SINGLE,
        new GivenRedisClient(client),
        options.replicas());
    return new RedisStore(name, options, topology, false);
  }

  /**
   * Makes a store on the application's own client and the server at an address, or the primary that the sentinels of the
   * address know, whose news the store then listens to. Connections are opened with the client's threads and settings,
   * but they never reconnect by themselves; the client is left open by {@link #close()}, and must stay open until then.
   *
   * @param client a client, made with this address or without any
   * @param address the server, or its sentinels and the primary's name
   * @return a store, not started
   */
  public static RedisStore using(RedisClient client, RedisURI address) {
    return using(client, address, RedisSettings.defaults());
  }

  /**
   * Makes a store on the application's own client and an address, as {@link #using(RedisClient, RedisURI)} does, with
   * settings.
   *
   * @param client a client, made with this address or without any
   * @param address the server, or its sentinels and the primary's name
   * @param settings how the locks are stored
   * @return a store, not started
   */
  public static RedisStore using(RedisClient client, RedisURI address, RedisSettings settings) {
    Objects.requireNonNull(address, "address");
    Objects.requireNonNull(settings, "settings");
    Objects.requireNonNull(client, "client");
    RedisOptions options = RedisOptions.of(settings);
    boolean sentinels = !address.getSentinels().isEmpty();
    String name = (sentinels ? "redis-sentinel" : "redis") + " (the application's client)";
    Topology topology = primary(
        name,
        sentinels ? RedisGuarantees.SENTINEL : RedisGuarantees.SINGLE,
        sentinels ? RedisDoctor.Kind.SENTINEL : RedisDoctor.Kind.SINGLE,
        new OwnRedisClient(address, client),
        options.replicas());
    return new RedisStore(name, options, topology, address.isSsl());
  }

  /**
   * Makes a store on the nodes of a cluster that the application's own client knows. Connections are opened with the
   * client's threads, settings and login, but they never reconnect by themselves; the client is left open by {@link
   * #close()}, and must stay open until then.
   *
   * @param client a client that was made with addresses of some nodes
   * @return a store, not started
   */
  public static RedisStore using(RedisClusterClient client) {
    return using(client, RedisSettings.defaults());
  }

  /**
   * Makes a store on the nodes of a cluster, as {@link #using(RedisClusterClient)} does, with settings.
   *
   * @param client a client that was made with addresses of some nodes
   * @param settings how the locks are stored
   * @return a store, not started
   */
  public static RedisStore using(RedisClusterClient client, RedisSettings settings) {
    Objects.requireNonNull(settings, "settings");
    Objects.requireNonNull(client, "client");
    RedisOptions options = RedisOptions.of(settings);
    String name = "redis-cluster (the application's client)";
    return new RedisStore(
        name, options, cluster(name, ClusterClient.of(client), options.replicas()), false);
  }

  /**
   * Returns a guard for values in the same Redis, on the connections of this store. It works as long as they do, from
   * when the client was made that uses this store. Their user needs access to the values' keys, and {@code +get +set}.
   *
   * @return a guard; closing it does nothing
   */
  public RedisGuard guard() {
    return new RedisGuard(RedisCalls.of(
        store, (script, of, arguments) -> started().route().run(script, of, arguments)));
  }

  static RedisStore at(StoreAddress address) {
    RedisAddress server = new RedisAddress(address);
    String name = address.toString();
    OwnRedisClient client = new OwnRedisClient(server.uri(), server.tls(), server.connectTimeout());
    RedisOptions options = RedisOptions.of(address);
    RedisReplicas.Rule replicas = options.replicas();
    Topology topology;
    if (server.isCluster()) {
      Supplier<CompletionStage<List<RedisURI>>> named =
          () -> CompletableFuture.completedFuture(server.uris());
      ClusterClient nodes = new ClusterClient(false, named, named, pattern -> client);
      topology = cluster(name, nodes, replicas);
    } else if (server.isSentinel()) {
      topology =
          primary(name, RedisGuarantees.SENTINEL, RedisDoctor.Kind.SENTINEL, client, replicas);
    } else {
      topology = primary(name, RedisGuarantees.SINGLE, RedisDoctor.Kind.SINGLE, client, replicas);
    }
    return new RedisStore(name, options, topology, server.isTls());
  }

  private static Topology primary(
      String name,
      Guarantees guarantees,
      RedisDoctor.Kind kind,
      RedisConnector connector,
      RedisReplicas.Rule replicas) {
    return new Topology(
        guarantees,
        kind,
        (runtime, events, keys, receiver) -> new RedisLink(
            name,
            runtime,
            events,
            connector,
            FirstQuestion.check(keys::ofNothing, keys.channel()),
            keys.channelOf(runtime.client()),
            new RedisClock(runtime.ticker()),
            replicas,
            receiver),
        connector::close);
  }

  private static Topology cluster(String name, ClusterClient client, RedisReplicas.Rule replicas) {
    return new Topology(
        RedisGuarantees.CLUSTER,
        RedisDoctor.Kind.CLUSTER,
        (runtime, events, keys, receiver) ->
            new RedisCluster(name, runtime, events, client, keys, replicas, receiver),
        client::close);
  }

  @Override
  public Guarantees guarantees() {
    return RedisGuarantees.with(topology.guarantees, options.replicas());
  }

  @Override
  public StoreTraits traits() {
    return TRAITS;
  }

  @Override
  public String describe() {
    return store;
  }

  @Override
  public void start(StoreRuntime runtime, StoreEvents events) {
    if (started != null) {
      throw new IllegalStateException("a store is started once");
    }
    RedisKeys keys = new RedisKeys(options.prefix());
    RedisReplicas.Rule replicas = options.replicas();
    RedisWaits waits = new RedisWaits(runtime, events, replicas.asks());
    RedisRoute route = topology.route.make(runtime, events, keys, waits::received);
    RedisRoute locks = replicas.asks() ? new ReplicatedRoute(store, route, replicas) : route;
    started = new Started(
        route,
        new RedisLocks(runtime, locks, keys, waits, options),
        new RedisRenewals(runtime, locks, keys, waits, options),
        new RedisAdmin(route, keys, options),
        new RedisDoctor(route, topology.kind, runtime.ticker(), options, tls));
  }

  private Started started() {
    Started now = started;
    if (now == null) {
      throw new IllegalStateException("the store was not started");
    }
    return now;
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return started().route().connect();
  }

  @Override
  public Instant time() {
    return started().route().time();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    return started().locks().attempt(claim, mode, giveUpAt);
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    return claims.isEmpty()
        ? CompletableFuture.completedFuture(Map.of())
        : started().renewals().keep(List.copyOf(claims));
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    return started().locks().end(claim, keepFor, lastGiveUp);
  }

  /** Returns nothing: a claim that was forgotten ends with its own lease. */
  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return CompletableFuture.completedFuture(Map.of());
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey name) {
    return started().admin().inspect(name);
  }

  @Override
  public Waiters waitersOfFreeLock() {
    return Waiters.exactly(0);
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    return started().admin().list(prefix, page);
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey name, long revision) {
    return started().admin().evict(name, revision);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return started().doctor().look();
  }

  @Override
  public List<String> schema() {
    return List.of();
  }

  /** Closes the connections; what is under way on them fails. A second call does nothing. */
  @Override
  public void close() {
    Started parts = started;
    if (parts == null) {
      topology.unused.run();
    } else {
      parts.route().close();
    }
  }
}
