// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.ClusterMap.Endpoint;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisCommandTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Looks at who has which slots: when anything is odd, again while a node is missing, and now and then. Three nodes are
 * asked at once, and the first answer counts.
 */
final class ClusterScout {
  private static final long SOON_NANOS = 50_000_000L;
  private static final long AGAIN_NANOS = 500_000_000L;
  private static final long REGULARLY_NANOS = 10_000_000_000L;
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int ASKED = 3;

  private final String store;
  private final StoreRuntime runtime;
  private final ClusterClient client;
  private final RedisCluster cluster;
  private final AtomicBoolean lookIsComing = new AtomicBoolean();
  private final AtomicBoolean looksRegularly = new AtomicBoolean();
  private volatile boolean closed;

  ClusterScout(String store, StoreRuntime runtime, ClusterClient client, RedisCluster cluster) {
    this.store = store;
    this.runtime = runtime;
    this.client = client;
    this.cluster = cluster;
  }

  /** Looks now and then from now on; a second call does nothing. */
  void lookRegularly() {
    if (looksRegularly.compareAndSet(false, true)) {
      nextRegular();
    }
  }

  private void nextRegular() {
    runtime
        .scheduler()
        .schedule(
            () -> {
              if (!closed) {
                nextRegular();
                lookSoon();
              }
            },
            REGULARLY_NANOS);
  }

  /** Looks once for all who want it in the same moment. */
  void lookSoon() {
    look(SOON_NANOS);
  }

  private void look(long pauseNanos) {
    if (closed || !lookIsComing.compareAndSet(false, true)) {
      return;
    }
    runtime
        .scheduler()
        .schedule(
            () -> safelyRead().whenComplete((found, failure) -> {
              lookIsComing.set(false);
              try {
                if (found != null) {
                  cluster.adopt(found);
                }
              } finally {
                if (!cluster.isWell()) {
                  look(AGAIN_NANOS);
                }
              }
            }),
            pauseNanos);
  }

  private CompletionStage<ClusterMap> safelyRead() {
    try {
      return read();
    } catch (RuntimeException | Error e) {
      // the next look must come all the same
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Asks those that we are connected to, else those that the address names. */
  CompletionStage<ClusterMap> read() {
    Map<Endpoint, Supplier<CompletionStage<List<Object>>>> asked = new LinkedHashMap<>();
    for (Endpoint each : shuffled(cluster.map().owners())) {
      RedisNode node = cluster.node(each);
      if (node.isUp()) {
        asked.put(each, () -> node.ask(redis -> redis.clusterSlots()));
      }
    }
    if (asked.isEmpty() && !cluster.map().owners().isEmpty()) {
      client.findAgain(runtime);
    }
    for (Endpoint each : shuffled(client.seeds())) {
      asked.putIfAbsent(each, () -> client.slots(each, runtime));
    }
    CompletableFuture<ClusterMap> first = new CompletableFuture<>();
    List<CompletableFuture<?>> all = new ArrayList<>();
    asked.entrySet().stream()
        .limit(ASKED)
        .forEach(each -> all.add(RedisErrors.connecting(
                store + " (" + each.getKey() + ")", each.getValue().get())
            .thenAccept(answer -> first.complete(ClusterMap.read(answer, each.getKey())))
            .toCompletableFuture()));
    CompletionStage<?> settled = CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    settled.whenComplete((done, failure) -> {
      if (failure != null) {
        first.completeExceptionally(failure);
      }
    });
    // a node that is stopped answers nothing, not even that
    Duration longest = Limit.longer(PATIENCE, runtime.requestTimeout());
    runtime
        .scheduler()
        .schedule(() -> first.completeExceptionally(silent(longest)), longest.toNanos());
    return first;
  }

  private RuntimeException silent(Duration longest) {
    return RedisErrors.unconnected(
        store,
        new RedisCommandTimeoutException(
            "no node has said within " + DurationText.of(longest) + " which node has which slots"));
  }

  <T> List<T> shuffled(Set<T> from) {
    List<T> list = new ArrayList<>(from);
    for (int i = list.size() - 1; i > 0; i--) {
      int j = (int) (runtime.random().nextDouble() * (i + 1));
      T each = list.get(i);
      list.set(i, list.get(j));
      list.set(j, each);
    }
    return list;
  }

  void close() {
    closed = true;
  }
}
