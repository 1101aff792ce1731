// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.ClusterMap.Endpoint;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Opens connections to any node, with the user, the password and the times that the address has. */
final class ClusterClient {
  private final Map<Endpoint, RedisURI> seeds = new LinkedHashMap<>();
  private final RedisURI pattern;
  private final OwnRedisClient client;

  ClusterClient(List<RedisURI> addresses, OwnRedisClient client) {
    addresses.forEach(each -> seeds.put(new Endpoint(each.getHost(), each.getPort()), each));
    this.pattern = addresses.get(0);
    this.client = client;
  }

  /** Returns the nodes that the address names. */
  Set<Endpoint> seeds() {
    return seeds.keySet();
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands(Endpoint node) {
    return client.commands(uri(node));
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages(Endpoint node) {
    return client.messages(uri(node));
  }

  private RedisURI uri(Endpoint node) {
    return RedisURI.builder(pattern).withHost(node.host()).withPort(node.port()).build();
  }

  /** Asks a node, on a connection of its own, who has which slots. */
  CompletionStage<List<Object>> slots(Endpoint node) {
    return commands(node)
        .thenCompose(
            connection -> connection.async().clusterSlots().whenComplete((answer, failure) -> {
              // nobody waits for it
              var unused = connection.closeAsync();
            }));
  }

  void close() {
    client.close();
  }
}
