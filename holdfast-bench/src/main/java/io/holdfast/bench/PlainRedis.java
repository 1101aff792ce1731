// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The plainest pair that does the job: {@code SET NX PX} with a value of one's own, and a script that deletes the key if it
 * still has that value. No waiting, no renewal, no token.
 */
final class PlainRedis implements Peer {
  /** Deletes a key if it still has its value. */
  static final String FREE =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisCommands<String, String> redis;
  private final String free;
  private final AtomicLong count = new AtomicLong();

  PlainRedis(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect();
    redis = connection.sync();
    free = redis.scriptLoad(FREE);
  }

  @Override
  public Contention.Guard lock(String name) {
    return inside -> {
      String owner = "0123456789abcdef0123456789abcdef-" + count.getAndIncrement();
      if (redis.set(name, owner, SetArgs.Builder.nx().px(30_000)) == null) {
        throw new IllegalStateException("another client has " + name);
      }
      inside.run();
      Long freed = redis.evalsha(free, ScriptOutputType.INTEGER, new String[] {name}, owner);
      if (freed != 1) {
        throw new IllegalStateException(name + " was not ours");
      }
    };
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
