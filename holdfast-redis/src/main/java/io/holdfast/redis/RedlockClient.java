// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One client for all nodes, so that they share its threads. Like {@link OwnRedisClient}, it never reconnects by itself
 * and so never sends anything again.
 */
final class RedlockClient {
  private static final int PROBES = 3;

  private final ClientOptions options;
  private @Nullable RedisClient client;
  private int users;

  /** Nothing is opened any more: nobody would close it. */
  private boolean closed;

  RedlockClient(Duration connectTimeout, @Nullable SslOptions tls) {
    KeepAliveOptions alive = KeepAliveOptions.builder()
        .enable()
        .idle(Duration.ofSeconds(10))
        .interval(Duration.ofSeconds(5))
        .count(PROBES)
        .build();
    ClientOptions.Builder builder = ClientOptions.builder()
        .autoReconnect(false)
        .timeoutOptions(TimeoutOptions.create())
        .socketOptions(SocketOptions.builder()
            .connectTimeout(connectTimeout)
            .tcpNoDelay(true)
            .keepAlive(alive)
            .build());
    if (tls != null) {
      builder.sslOptions(tls);
    }
    this.options = builder.build();
  }

  private synchronized RedisClient client() {
    if (closed) {
      throw new RedisException("the store is closed");
    }
    RedisClient made = client;
    if (made == null) {
      made = RedisDriver.make(options, null);
      client = made;
    }
    return made;
  }

  /** Returns what opens connections to one node; the client is closed with the last of them. */
  synchronized RedisConnector to(RedisURI node) {
    users++;
    return new RedisConnector() {
      @Override
      public CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands() {
        try {
          return client().connectAsync(ByteArrayCodec.INSTANCE, node);
        } catch (RedisException e) {
          return CompletableFuture.failedFuture(e);
        }
      }

      @Override
      public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages() {
        try {
          return client().connectPubSubAsync(ByteArrayCodec.INSTANCE, node);
        } catch (RedisException e) {
          return CompletableFuture.failedFuture(e);
        }
      }

      @Override
      public void close() {
        leave();
      }
    };
  }

  private synchronized void leave() {
    users--;
    if (users == 0) {
      close();
    }
  }

  synchronized void close() {
    closed = true;
    RedisClient made = client;
    if (made != null) {
      client = null;
      RedisDriver.shutDown(made, true);
    }
  }
}
