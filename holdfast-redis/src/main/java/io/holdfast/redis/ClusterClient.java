// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.ClusterMap.Endpoint;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Opens connections to any node, with the user, the password and the times that the address has. */
final class ClusterClient {
  private final Supplier<CompletionStage<List<RedisURI>>> addresses;
  private final Supplier<CompletionStage<List<RedisURI>>> addressesNow;
  private final Function<RedisURI, OwnRedisClient> maker;
  private final AtomicBoolean finding = new AtomicBoolean();
  private volatile @Nullable Known known;

  /** What the addresses say, and the client for them. */
  private record Known(Set<Endpoint> seeds, RedisURI pattern, OwnRedisClient client) {}

  /**
   * Makes a client that finds its addresses when it is first needed.
   *
   * @param addresses of some nodes, of which the first has what is needed to connect to any
   * @param addressesNow the same, when none of them leads to a node any more
   * @param maker makes the client
   */
  ClusterClient(
      Supplier<CompletionStage<List<RedisURI>>> addresses,
      Supplier<CompletionStage<List<RedisURI>>> addressesNow,
      Function<RedisURI, OwnRedisClient> maker) {
    this.addresses = addresses;
    this.addressesNow = addressesNow;
    this.maker = maker;
  }

  /** Makes a client that connects with the settings of an application's one, to the nodes that this one has found. */
  static ClusterClient of(RedisClusterClient given) {
    return new ClusterClient(
        () -> GivenRedisClient.onThread(() -> nodes(given)),
        () -> GivenRedisClient.onThread(() -> {
          given.refreshPartitions();
          return nodes(given);
        }),
        pattern -> new OwnRedisClient(pattern, given));
  }

  private static List<RedisURI> nodes(RedisClusterClient given) {
    return given.getPartitions().stream().map(RedisClusterNode::getUri).toList();
  }

  /** Finds the addresses, if they are not known; before anything else is asked. */
  CompletionStage<?> prepare() {
    return known != null
        ? CompletableFuture.completedFuture(known)
        : addresses.get().thenApply(this::know);
  }

  private synchronized Known know(List<RedisURI> found) {
    Known now = known;
    if (now == null) {
      now = new Known(endpoints(found), found.get(0), maker.apply(found.get(0)));
      known = now;
    }
    return now;
  }

  private static Set<Endpoint> endpoints(List<RedisURI> found) {
    Set<Endpoint> seeds = new LinkedHashSet<>();
    found.forEach(each -> seeds.add(new Endpoint(each.getHost(), each.getPort())));
    return seeds;
  }

  /** Finds the addresses once more, beside what goes on: all nodes may have come back under others. */
  void findAgain() {
    if (known == null || !finding.compareAndSet(false, true)) {
      return;
    }
    addressesNow.get().whenComplete((found, failure) -> {
      if (failure == null && !found.isEmpty()) {
        knowAgain(found);
      }
      finding.set(false);
    });
  }

  private synchronized void knowAgain(List<RedisURI> found) {
    Known before = known();
    known = new Known(endpoints(found), before.pattern(), before.client());
  }

  private Known known() {
    Known now = known;
    if (now == null) {
      throw new IllegalStateException("it was not prepared");
    }
    return now;
  }

  /** Returns the nodes that the address names. */
  Set<Endpoint> seeds() {
    return known().seeds();
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands(Endpoint node) {
    return known().client().commands(uri(node));
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages(Endpoint node) {
    return known().client().messages(uri(node));
  }

  private RedisURI uri(Endpoint node) {
    return RedisURI.builder(known().pattern())
        .withHost(node.host())
        .withPort(node.port())
        .build();
  }

  /** Asks a node, on a connection of its own, who has which slots. */
  CompletionStage<List<Object>> slots(Endpoint node, StoreRuntime runtime) {
    return commands(node)
        .thenCompose(connection -> Limit.on(
                connection.async().clusterSlots(),
                runtime,
                RedisLine.LONGEST,
                () -> new RedisException(node + " does not say who has which slots"))
            .whenComplete((answer, failure) -> {
              // nobody waits for it
              var unused = connection.closeAsync();
            }));
  }

  synchronized void close() {
    Known now = known;
    if (now != null) {
      now.client().close();
    }
  }
}
