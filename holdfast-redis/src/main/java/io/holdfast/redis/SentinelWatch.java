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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to every sentinel for the news of another primary. A former primary that is merely slow, or cut off from the
 * sentinels, goes on as if nothing had happened, and so would who is connected to it.
 *
 * <p>What was said while we did not listen is asked for: once the subscription is confirmed, by a connection of its own,
 * for the one that listens can ask nothing. A sentinel is compared with what it said last itself, so that one whose news is
 * old, because it is cut off from the others, breaks no good connection again and again. Who says something new is the one
 * whose primary is taken: another one may not have heard of it.
 */
final class SentinelWatch {
  private static final byte[] SWITCHED = RedisKeys.ascii("+switch-master");
  private static final long PAUSE_NANOS = 1_000_000_000L;
  private static final long AGAIN_NANOS = 10_000_000_000L;

  /** Of the message: name, former host and port, new host and port. */
  private static final int WORDS = 5;

  private final StoreRuntime runtime;
  private final byte[] name;
  private final String primary;
  private final RedisDriver driver;
  private final Consumer<@Nullable RedisURI> moved;
  private final List<Sentinel> sentinels = new ArrayList<>();

  /** What any of them said last; null before that. */
  private final AtomicReference<@Nullable String> lastNamed = new AtomicReference<>();

  private volatile boolean closed;

  /**
   * Makes one that does not listen yet.
   *
   * @param moved is given the sentinel that names another primary than before; null if all that is known is that one may
   *     have been named
   */
  SentinelWatch(
      StoreRuntime runtime, RedisURI uri, RedisDriver driver, Consumer<@Nullable RedisURI> moved) {
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
          RedisLine.Use.of(
              RedisOpener.of(driver.isLent(), () -> driver.messages(uri)),
              this::subscribe,
              this::ask,
              () -> {}));
    }

    /** A line that was never up does not try again by itself. */
    void open() {
      line.open().whenComplete((connection, failure) -> {
        if (failure == null) {
          ask();
        } else if (!closed) {
          wasAway = true;
          runtime.scheduler().schedule(this::open, PAUSE_NANOS);
        }
      });
    }

    private CompletionStage<?> subscribe(StatefulRedisPubSubConnection<byte[], byte[]> connection) {
      connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
        @Override
        public void message(byte[] channel, byte[] message) {
          told(new String(message, StandardCharsets.UTF_8));
        }
      });
      return connection.async().subscribe(new byte[][] {SWITCHED});
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
      moved.accept(uri);
    }

    /** Asks what it would have said while we did not listen; again later, if it does not answer and is listened to. */
    private void ask() {
      StatefulRedisPubSubConnection<byte[], byte[]> listening = line.current();
      if (listening == null || closed) {
        return;
      }
      String before = named.get();
      CompletionStage<String> answer =
          Limit.on(address(), runtime, RedisLine.LONGEST, () -> new RedisException("it is silent"));
      answer.whenComplete((now, failure) -> {
        if (failure == null) {
          answered(before, now);
        } else {
          runtime.scheduler().schedule(() -> askAgain(listening), AGAIN_NANOS);
        }
      });
    }

    private void askAgain(StatefulRedisPubSubConnection<byte[], byte[]> listening) {
      // another connection has had a question of its own
      if (listening.equals(line.current())) {
        ask();
      }
    }

    private CompletionStage<String> address() {
      return driver
          .sentinel(uri)
          .thenCompose(connection -> Limit.on(
                  connection.async().getMasterAddrByName(name),
                  runtime,
                  RedisLine.LONGEST,
                  () -> new RedisException("it does not answer"))
              .thenApply(this::text)
              .whenComplete((found, failure) -> letGo(connection)));
    }

    private String text(@Nullable SocketAddress found) {
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
      if (before != null) {
        if (!now.equals(before)) {
          moved.accept(uri);
        }
      } else if (last == null ? wasAway : !now.equals(last)) {
        // once for each sentinel: which of two is right is not known, nor what was said before any was heard
        moved.accept(null);
      }
    }
  }
}
