// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

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
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A driver's client of our own, with what it costs turned down: made with the first connection, and not again once it was
 * closed. It never reconnects by itself: the driver would send again what was not answered, and only we know whether that
 * is still wanted.
 */
final class RedisDriver {
  private static final int PROBES = 3;

  /**
   * So many requests leave together at most. Where all of them do, the server waits while they are written, and the client
   * while they are answered: a third of two cores is idle. With so few the one works on the first while the other is at the
   * next.
   */
  private static final int FEW = 4;

  /** Requests that several threads make at about the same time leave, and so are answered, together. */
  private static final NettyCustomizer TOGETHER = new NettyCustomizer() {
    @Override
    public void afterChannelInitialized(Channel channel) {
      channel.pipeline().addFirst(new FlushConsolidationHandler(FEW, true));
    }
  };

  private final ClientOptions options;
  private final @Nullable ClientResources lent;
  private @Nullable RedisClient client;

  /** Nothing is opened any more: nobody would close it. */
  private boolean closed;

  private RedisDriver(ClientOptions options, @Nullable ClientResources lent) {
    this.options = options;
    this.lent = lent;
  }

  /** On threads of its own. */
  static RedisDriver own(Duration connectTimeout, @Nullable SslOptions tls) {
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
    return new RedisDriver(builder.build(), null);
  }

  /** With the threads and the settings of an application's client, which it leaves alone otherwise. */
  static RedisDriver on(AbstractRedisClient given) {
    return new RedisDriver(
        given.getOptions().mutate().autoReconnect(false).build(), given.getResources());
  }

  boolean isLent() {
    return lent != null;
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands(RedisURI to) {
    return opened(to, made -> made.connectAsync(ByteArrayCodec.INSTANCE, to));
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages(RedisURI from) {
    return opened(from, made -> made.connectPubSubAsync(ByteArrayCodec.INSTANCE, from));
  }

  CompletionStage<StatefulRedisSentinelConnection<byte[], byte[]>> sentinel(RedisURI to) {
    return opened(to, made -> made.connectSentinelAsync(ByteArrayCodec.INSTANCE, to));
  }

  private <C> CompletionStage<C> opened(
      RedisURI to, Function<RedisClient, CompletionStage<C>> opening) {
    RedisClient made = client();
    if (made == null) {
      return CompletableFuture.failedFuture(new RedisException("the store is closed"));
    }
    CompletionStage<C> opened = opening.apply(made);
    return to.isSsl()
        ? opened.exceptionally(failure -> {
          throw new CompletionException(new ConnectionTrouble.OverTls(failure));
        })
        : opened;
  }

  private synchronized @Nullable RedisClient client() {
    if (client == null && !closed) {
      RedisClient made = new AsyncRedisClient(lent == null ? resources() : lent);
      made.setOptions(options);
      client = made;
    }
    return client;
  }

  private static ClientResources resources() {
    return ClientResources.builder()
        .nettyCustomizer(TOGETHER)
        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
        .build();
  }

  /** Lets go of the client; nobody waits, since it may be one of its own threads that closes. */
  synchronized void close() {
    closed = true;
    RedisClient made = client;
    client = null;
    if (made != null) {
      var unused = made.shutdownAsync(0, 1, TimeUnit.SECONDS).whenComplete((done, failure) -> {
        if (lent == null) {
          shutDown(made.getResources());
        }
      });
    }
  }

  private static void shutDown(ClientResources resources) {
    var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
  }
}
