// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.ClusterMap.Endpoint;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Opens connections to any node, with the user, the password and the times that the address has. */
final class ClusterClient {
  /** How long finding the addresses once more may take before it is begun anew; what comes later still counts. */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  /** So many attempts at that may be under way: more than come together in the minute that a client waits by default. */
  private static final int MOST = 16;

  private final boolean lent;
  private final Supplier<CompletionStage<List<RedisURI>>> addresses;
  private final Supplier<CompletionStage<List<RedisURI>>> addressesNow;
  private final Function<RedisURI, OwnRedisClient> maker;
  private final AtomicBoolean finding = new AtomicBoolean();
  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicInteger attempts = new AtomicInteger();
  private volatile @Nullable Known known;

  /** The newest attempt that found any; an older one that is late knows less. */
  private int newest;

  /** What the addresses say, and the client for them. */
  private record Known(Set<Endpoint> seeds, RedisURI pattern, OwnRedisClient client) {}

  /**
   * Makes a client that finds its addresses when it is first needed.
   *
   * @param lent whether connections are opened with an application's client
   * @param addresses of some nodes, of which the first has what is needed to connect to any
   * @param addressesNow the same, when none of them leads to a node any more
   * @param maker makes the client
   */
  ClusterClient(
      boolean lent,
      Supplier<CompletionStage<List<RedisURI>>> addresses,
      Supplier<CompletionStage<List<RedisURI>>> addressesNow,
      Function<RedisURI, OwnRedisClient> maker) {
    this.lent = lent;
    this.addresses = addresses;
    this.addressesNow = addressesNow;
    this.maker = maker;
  }

  /** Makes a client that connects with the settings of an application's one, to the nodes that this one has found. */
  static ClusterClient of(RedisClusterClient given) {
    return new ClusterClient(
        true,
        () -> GivenRedisClient.onThread(() -> nodes(given)),
        () -> GivenRedisClient.onThread(given::refreshPartitionsAsync)
            .thenCompose(Function.identity())
            .thenApply(done -> nodes(given)),
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

  /**
   * Finds the addresses once more, beside what goes on: all nodes may have come back under others. An application's
   * client that had begun to ask a node as that died waits for the answer for a minute, unless it was set otherwise, and
   * finds at once what it is asked meanwhile.
   */
  void findAgain(StoreRuntime runtime) {
    if (known == null || underWay.get() >= MOST || !finding.compareAndSet(false, true)) {
      return;
    }
    int attempt = attempts.incrementAndGet();
    underWay.incrementAndGet();
    CompletionStage<?> found = asked().whenComplete((addresses, failure) -> {
      underWay.decrementAndGet();
      if (failure == null) {
        knowAgain(attempt, addresses);
      }
    });
    CompletionStage<?> ended =
        Limit.on(found, runtime, LONGEST, () -> new RedisException("the nodes are not found"));
    ended.whenComplete((done, failure) -> finding.set(false));
  }

  private CompletionStage<List<RedisURI>> asked() {
    try {
      return addressesNow.get();
    } catch (RuntimeException | Error e) {
      // the next attempt must come all the same
      return CompletableFuture.failedFuture(e);
    }
  }

  private synchronized void knowAgain(int attempt, List<RedisURI> found) {
    if (found.isEmpty() || attempt < newest) {
      return;
    }
    newest = attempt;
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

  boolean isLent() {
    return lent;
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
                RedisLine.firstAnswer(runtime),
                () -> new RedisCommandTimeoutException(
                    node + " did not say which node has which slots"))
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
