// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Listens to every sentinel for the news of another primary. A former primary that is merely slow, or cut off from the
 * sentinels, goes on as if nothing had happened, and so would who is connected to it.
 */
final class SentinelWatch {
  private static final byte[] SWITCHED = RedisKeys.ascii("+switch-master");
  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final StoreRuntime runtime;
  private final String primary;
  private final Runnable moved;
  private final List<RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>>> lines =
      new ArrayList<>();
  private volatile boolean closed;

  SentinelWatch(
      StoreRuntime runtime,
      RedisURI uri,
      Function<RedisURI, CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>>> connect,
      Runnable moved) {
    this.runtime = runtime;
    this.primary = uri.getSentinelMasterId() + " ";
    this.moved = moved;
    for (RedisURI sentinel : uri.getSentinels()) {
      lines.add(new RedisLine<>(
          runtime,
          new RedisLine.Use<>(() -> connect.apply(sentinel), this::subscribe, () -> {}, () -> {})));
    }
  }

  void open() {
    lines.forEach(this::open);
  }

  /** A line that was never up does not try again by itself. */
  private void open(RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>> line) {
    line.open().whenComplete((connection, failure) -> {
      if (failure != null && !closed) {
        runtime.scheduler().schedule(() -> open(line), PAUSE_NANOS);
      }
    });
  }

  private CompletionStage<?> subscribe(StatefulRedisPubSubConnection<byte[], byte[]> connection) {
    connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
      @Override
      public void message(byte[] channel, byte[] message) {
        // each sentinel says it when it knows: the first one that is asked may not be the first one that knows
        if (new String(message, StandardCharsets.UTF_8).startsWith(primary)) {
          moved.run();
        }
      }
    });
    return connection.async().subscribe(new byte[][] {SWITCHED});
  }

  /** Closes the connections; completes when that is done. */
  CompletionStage<?> close() {
    closed = true;
    return CompletableFuture.allOf(
        lines.stream().map(RedisLine::close).toArray(CompletableFuture[]::new));
  }
}
