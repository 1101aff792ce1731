// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A client of the driver whose connections have the asynchronous commands alone; {@code sync()} is null. The driver makes the
 * synchronous ones, which nothing of ours asks for, with each connection, out of interfaces of 1,500 methods: the first time that
 * takes half a second of a processor, a quarter of a command line's start on Redis.
 */
final class AsyncRedisClient extends RedisClient {
  AsyncRedisClient(ClientResources resources) {
    super(resources, new RedisURI());
  }

  @Override
  protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
      RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
    return new StatefulRedisConnectionImpl<>(
        writer, pushes, codec, timeout, getOptions().getJsonParser()) {
      @Override
      protected @Nullable RedisCommands<K, V> newRedisSyncCommandsImpl() {
        return null;
      }
    };
  }

  @Override
  protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
      PubSubEndpoint<K, V> endpoint,
      RedisChannelWriter writer,
      RedisCodec<K, V> codec,
      Duration timeout) {
    return new StatefulRedisPubSubConnectionImpl<>(endpoint, writer, codec, timeout) {
      @Override
      protected @Nullable RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
        return null;
      }
    };
  }
}
