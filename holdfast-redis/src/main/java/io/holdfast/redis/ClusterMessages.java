// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.ClusterMap.Endpoint;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisException;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a client of a cluster listens to: at each node that has slots, what is published there alone ({@link ShardLine});
 * and at one of them the plain channel, on which it hears what was published at any node, as the fallback. However many
 * locks there are, these are all.
 */
final class ClusterMessages {
  /** So many numbers hit every slot of a cluster, but for a chance that does not matter. */
  private static final int TRIED = 300_000;

  private final StoreRuntime runtime;
  private final StoreEvents events;
  private final ClusterClient client;
  private final RedisCluster cluster;
  private final Consumer<byte[]> receiver;
  private final String channel;
  private final RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>> plain;
  private final Map<Endpoint, ShardLine> shards = new ConcurrentHashMap<>();
  private volatile @Nullable Endpoint listensTo;

  ClusterMessages(
      StoreRuntime runtime,
      StoreEvents events,
      ClusterClient client,
      RedisCluster cluster,
      RedisKeys keys,
      Consumer<byte[]> receiver) {
    this.runtime = runtime;
    this.events = events;
    this.client = client;
    this.cluster = cluster;
    this.receiver = receiver;
    byte[] own = keys.channelOf(runtime.client());
    this.channel = RedisAnswer.string(own);
    this.plain = new RedisLine<>(
        runtime,
        RedisLine.Use.of(
            RedisOpener.of(client.isLent(), this::listen),
            connection -> RedisLink.subscribe(connection, own, receiver),
            events::lookAgainAll,
            cluster::lookSoon));
  }

  /** Subscribes to the plain channel; completes when that is done. */
  CompletionStage<?> open() {
    return plain.open();
  }

  /** Any node will do; another one after one that failed. */
  private CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> listen() {
    List<Endpoint> from = cluster.shuffledOwners();
    if (from.isEmpty()) {
      return CompletableFuture.failedFuture(new RedisException("no node is known"));
    }
    List<Endpoint> reached =
        from.stream().filter(each -> cluster.node(each).isUp()).toList();
    Endpoint one = reached.stream()
        .filter(each -> !each.equals(listensTo))
        .findFirst()
        .orElseGet(() -> reached.isEmpty() ? from.get(0) : reached.get(0));
    listensTo = one;
    return client.messages(one);
  }

  /** These nodes have slots now, as the cluster's map says. */
  void adopt(Set<Endpoint> owners) {
    for (Endpoint each : owners) {
      ShardLine shard = shards.computeIfAbsent(each, this::make);
      shard.check(name -> each.equals(cluster.map().owner(ClusterMap.slot(name))));
      shard.open();
    }
    shards.entrySet().removeIf(each -> {
      boolean isGone = !owners.contains(each.getKey());
      if (isGone) {
        var unused = each.getValue().close();
      }
      return isGone;
    });
    Endpoint listening = listensTo;
    if (listening != null && !owners.contains(listening)) {
      plain.replace();
    }
  }

  private ShardLine make(Endpoint node) {
    return new ShardLine(
        runtime,
        RedisOpener.of(client.isLent(), () -> client.messages(node)),
        () -> name(node),
        receiver,
        events::lookAgainAll);
  }

  private byte @Nullable [] name(Endpoint node) {
    long from = (long) (runtime.random().nextDouble() * ClusterMap.SLOTS);
    for (long i = from; i < from + TRIED; i++) {
      byte[] name = RedisKeys.ascii(channel + "{" + i + "}");
      if (node.equals(cluster.map().owner(ClusterMap.slot(name)))) {
        return name;
      }
    }
    return null;
  }

  /** Returns what the sharded channel at a node has behind the plain one's name; null if there is none. */
  @Nullable
  String tag(Endpoint node) {
    ShardLine shard = shards.get(node);
    byte[] name = shard == null ? null : shard.channel();
    return name == null ? null : RedisAnswer.string(name).substring(channel.length());
  }

  /** Closes all of them; completes when that is done. */
  CompletableFuture<?> close() {
    List<CompletableFuture<?>> all = new ArrayList<>();
    shards.values().forEach(each -> all.add(each.close()));
    all.add(plain.close());
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
  }
}
