// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What a hand-over by the server itself costs: a list with one element, taken by {@code BLPOP} and put back by {@code
 * LPUSH}. No usable lock, since the element is gone with whoever has it. A connection for each thread, because a command
 * that blocks has it for itself.
 */
final class TokenPeer implements Peer {
  private static final double PATIENCE_SECONDS = 30;

  private final RedisClient client;
  private final Queue<StatefulRedisConnection<String, String>> connections =
      new ConcurrentLinkedQueue<>();
  private final ThreadLocal<RedisCommands<String, String>> redis =
      ThreadLocal.withInitial(this::connect);

  TokenPeer(String uri) {
    client = RedisClient.create(uri);
  }

  private RedisCommands<String, String> connect() {
    StatefulRedisConnection<String, String> connection = client.connect();
    connections.add(connection);
    return connection.sync();
  }

  @Override
  public Contention.Guard lock(String name) {
    String list = "token:" + name;
    // whoever is first puts the token in
    if (redis.get().set(list + ":made", "1", SetArgs.Builder.nx()) != null) {
      redis.get().lpush(list, "token");
    }
    return inside -> {
      if (redis.get().blpop(PATIENCE_SECONDS, list) == null) {
        throw new IllegalStateException("the token is lost");
      }
      try {
        inside.run();
      } finally {
        redis.get().lpush(list, "token");
      }
    };
  }

  @Override
  public void close() {
    connections.forEach(StatefulRedisConnection::close);
    client.shutdown();
  }
}
