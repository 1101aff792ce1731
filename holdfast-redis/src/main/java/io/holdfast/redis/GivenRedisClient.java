// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.DaemonThread;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The application's own client. Connections are opened on a thread of their own, because a client only tells by a call
 * that waits where its server is. It may be set to reconnect and to send commands again; a connection that broke is
 * closed at once here, so that it does neither.
 */
final class GivenRedisClient implements RedisConnector {
  private final RedisClient client;

  GivenRedisClient(RedisClient client) {
    this.client = client;
  }

  @Override
  public CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands() {
    return onThread(() -> client.connect(ByteArrayCodec.INSTANCE));
  }

  @Override
  public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages() {
    return onThread(() -> client.connectPubSub(ByteArrayCodec.INSTANCE));
  }

  @Override
  public boolean isLent() {
    return true;
  }

  /** Calls something that waits. */
  static <C> CompletionStage<C> onThread(Supplier<C> open) {
    CompletableFuture<C> opened = new CompletableFuture<>();
    Thread thread = new DaemonThread(
        () -> {
          try {
            opened.complete(open.get());
          } catch (RuntimeException | Error e) {
            // also a thread that the client could not make: who waits for the connection must hear of it
            opened.completeExceptionally(e);
          }
        },
        "holdfast-redis-connect");
    try {
      thread.start();
    } catch (Error e) {
      // no more threads can be made
      opened.completeExceptionally(e);
    }
    return opened;
  }

  @Override
  public void close() {
    // what we were given we do not close
  }
}
