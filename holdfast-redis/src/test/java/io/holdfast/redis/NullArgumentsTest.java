// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.testkit.contract.NullArguments;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** Null is refused at the call, not first by the store. */
class NullArgumentsTest {
  private static final RedisURI NOWHERE = RedisURI.create("redis://127.0.0.1:1");

  @Test
  void null_isRefused() {
    RedisClient client = RedisClient.create(NOWHERE);
    RedisClusterClient cluster = RedisClusterClient.create(NOWHERE);
    try {
      RedisClusterAsyncCommands<byte[], byte[]> commands = unused();
      new NullArguments()
          .with(RedisClient.class, client)
          .with(RedisClient[].class, new RedisClient[] {client, client, client})
          .with(RedisClusterClient.class, cluster)
          .with(RedisURI.class, NOWHERE)
          .with(OneTimeTokens.class, OneTimeTokens.on(commands))
          .with(RedisGuard.class, RedisGuard.on(commands))
          .with(RedisSettings.class, RedisSettings.defaults())
          .with(RedisSettings.Builder.class, RedisSettings.builder())
          .ofModule(RedisStore.class)
          .areRefused(35);
    } finally {
      cluster.shutdown();
      client.shutdown();
    }
  }

  @SuppressWarnings("unchecked")
  private static RedisClusterAsyncCommands<byte[], byte[]> unused() {
    return (RedisClusterAsyncCommands<byte[], byte[]>) Proxy.newProxyInstance(
        RedisClusterAsyncCommands.class.getClassLoader(),
        new Class<?>[] {RedisClusterAsyncCommands.class},
        (proxy, method, arguments) -> {
          throw new UnsupportedOperationException(method.toString());
        });
  }
}
