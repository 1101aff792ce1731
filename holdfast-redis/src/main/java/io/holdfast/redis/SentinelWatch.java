// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Listens to every sentinel for the news of another primary. A former primary that is merely slow, or cut off from the
 * sentinels, goes on as if nothing had happened, and so would who is connected to it.
 *
 * <p>What was said while we did not listen is asked for: once the subscription is confirmed, by a connection of its own,
 * for the one that listens can ask nothing. A sentinel is compared with what it said last itself, so that one whose news is
 * old, because it is cut off from the others, breaks no good connection again and again.
 */
final class SentinelWatch {
  private static final byte[] SWITCHED = RedisKeys.ascii("+switch-master");
  private static final long PAUSE_NANOS = 1_000_000_000L;

  /** Of the message: name, former host and port, new host and port. */
  private static final int WORDS = 5;

  private final StoreRuntime runtime;
  private final byte[] name;
  private final String primary;
  private final RedisDriver driver;
  private final Runnable moved;
  private final List<Sentinel> sentinels = new ArrayList<>();

  /** What any of them said last; null before that. */
  private final AtomicReference<@Nullable String> lastNamed = new AtomicReference<>();

  private volatile boolean closed;

  SentinelWatch(StoreRuntime runtime, RedisURI uri, RedisDriver driver, Runnable moved) {
    this.runtime = runtime;
    this.name = RedisKeys.ascii(uri.getSentinelMasterId());
    this.primary = uri.getSentinelMasterId() + " ";
    this.driver = driver;
    this.moved = moved;
    uri.getSentinels().forEach(each -> sentinels.add(new Sentinel(each)));
  }

  void open() {
    sentinels.forEach(Sentinel::open);
  }

  /** Closes the connections; completes when that is done. */
  CompletionStage<?> close() {
    closed = true;
    return CompletableFuture.allOf(
        sentinels.stream().map(each -> each.line.close()).toArray(CompletableFuture[]::new));
  }

  private final class Sentinel {
    final RedisURI uri;
    final RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>> line;

    /** What it said last; null before that. */
    private final AtomicReference<@Nullable String> named = new AtomicReference<>();

    private volatile boolean wasAway;

    Sentinel(RedisURI uri) {
      this.uri = uri;
      this.line = new RedisLine<>(
          runtime,
          new RedisLine.Use<>(() -> driver.messages(uri), this::subscribe, () -> {}, () -> {}));
    }

    /** A line that was never up does not try again by itself. */
    void open() {
      line.open().whenComplete((connection, failure) -> {
        if (failure != null && !closed) {
          wasAway = true;
          runtime.scheduler().schedule(this::open, PAUSE_NANOS);
        }
      });
    }

    private CompletionStage<Runnable> subscribe(
        StatefulRedisPubSubConnection<byte[], byte[]> connection) {
      connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
        @Override
        public void message(byte[] channel, byte[] message) {
          told(new String(message, StandardCharsets.UTF_8));
        }
      });
      return connection.async().subscribe(new byte[][] {SWITCHED}).thenCompose(subscribed -> {
        String before = named.get();
        return ask().thenApply(now -> () -> answered(before, now));
      });
    }

    private void told(String message) {
      if (!message.startsWith(primary)) {
        return;
      }
      String[] words = message.split(" ", -1);
      if (words.length == WORDS) {
        String now = words[WORDS - 2] + ":" + words[WORDS - 1];
        named.set(now);
        lastNamed.set(now);
      }
      // each sentinel says it when it knows: the first one that is asked may not be the first one that knows
      moved.run();
    }

    private CompletionStage<String> ask() {
      return driver
          .sentinel(uri)
          .thenCompose(connection -> connection
              .async()
              .getMasterAddrByName(name)
              .thenApply(this::addressOf)
              .whenComplete((found, failure) -> letGo(connection)));
    }

    private String addressOf(@Nullable SocketAddress found) {
      if (found instanceof InetSocketAddress known) {
        return known.getHostString() + ":" + known.getPort();
      }
      throw new RedisException("the sentinel knows no " + primary);
    }

    private static void letGo(StatefulRedisSentinelConnection<?, ?> connection) {
      // nobody waits for it, and nothing is left to do if it fails
      var unused = connection.closeAsync();
    }

    private void answered(@Nullable String before, String now) {
      if (!named.compareAndSet(before, now)) {
        // a message came meanwhile, and is newer
        return;
      }
      String last = lastNamed.getAndSet(now);
      String expected = before != null ? before : last;
      if (expected != null ? !now.equals(expected) : wasAway) {
        moved.run();
      }
    }
  }
}
