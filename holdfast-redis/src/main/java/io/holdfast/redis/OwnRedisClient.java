// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.AbstractRedisClient;
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
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A client of our own, made with the first connection. It never reconnects by itself: the driver would send again what
 * was not answered, and only we know whether that is still wanted.
 */
final class OwnRedisClient implements RedisConnector {
  private static final int PROBES = 3;

  private final RedisURI uri;
  private final ClientOptions options;
  private final @Nullable ClientResources lent;
  private @Nullable RedisClient client;
  private @Nullable SentinelWatch watch;

  /** Nothing is opened any more: nobody would close it. */
  private boolean closed;

  OwnRedisClient(RedisURI uri, @Nullable SslOptions tls, Duration connectTimeout) {
    this.uri = uri;
    // a peer that vanished is noticed also where nothing is sent: on the connection for messages
    KeepAliveOptions alive = KeepAliveOptions.builder()
        .enable()
        .idle(Duration.ofSeconds(10))
        .interval(Duration.ofSeconds(5))
        .count(PROBES)
        .build();
    ClientOptions.Builder builder = ClientOptions.builder()
        .autoReconnect(false)
        // the engine has time-outs of its own, and this one costs a timer for each command
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
    this.lent = null;
  }

  /** Uses the threads and the settings of an application's client, which it leaves alone otherwise. */
  OwnRedisClient(RedisURI uri, AbstractRedisClient given) {
    this.uri = uri;
    this.options = given.getOptions().mutate().autoReconnect(false).build();
    this.lent = given.getResources();
  }

  private synchronized RedisClient client() {
    if (closed) {
      throw new RedisException("the store is closed");
    }
    RedisClient made = client;
    if (made == null) {
      made = RedisDriver.make(options, lent);
      client = made;
    }
    return made;
  }

  @Override
  public CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands() {
    return commands(uri);
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands(RedisURI to) {
    try {
      return client().connectAsync(ByteArrayCodec.INSTANCE, to);
    } catch (RedisException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages() {
    return messages(uri);
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages(RedisURI from) {
    try {
      return client().connectPubSubAsync(ByteArrayCodec.INSTANCE, from);
    } catch (RedisException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public synchronized void watch(StoreRuntime runtime, Runnable moved) {
    if (watch == null && !uri.getSentinels().isEmpty()) {
      watch = new SentinelWatch(runtime, uri, this::messages, moved);
      watch.open();
    }
  }

  @Override
  public synchronized void close() {
    SentinelWatch watching = watch;
    if (watching == null) {
      shutDown();
    } else {
      // the driver complains of connections that are closed twice
      watching.close().whenComplete((closed, failure) -> shutDown());
    }
  }

  private synchronized void shutDown() {
    closed = true;
    RedisClient made = client;
    if (made != null) {
      client = null;
      RedisDriver.shutDown(made, lent == null);
    }
  }
}
