// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Makes and closes clients of our own, with what they cost turned down. */
final class RedisDriver {
  private RedisDriver() {}

  /** Requests that several threads make at about the same time leave, and so are answered, together. */
  private static final NettyCustomizer TOGETHER = new NettyCustomizer() {
    @Override
    public void afterChannelInitialized(Channel channel) {
      channel
          .pipeline()
          .addFirst(new FlushConsolidationHandler(
              FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES, true));
    }
  };

  /** Makes a client; on threads of its own, or on those that it is lent. */
  static RedisClient make(ClientOptions options, @Nullable ClientResources lent) {
    RedisClient client = RedisClient.create(lent == null ? resources() : lent);
    client.setOptions(options);
    return client;
  }

  private static ClientResources resources() {
    return ClientResources.builder()
        .nettyCustomizer(TOGETHER)
        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
        .build();
  }

  /** Lets go of a client; nobody waits, since it may be one of its own threads that closes. */
  static void shutDown(RedisClient client, boolean ownsResources) {
    var unused = client.shutdownAsync(0, 1, TimeUnit.SECONDS).whenComplete((done, failure) -> {
      if (ownsResources) {
        shutDown(client.getResources());
      }
    });
  }

  private static void shutDown(ClientResources resources) {
    var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
  }
}
