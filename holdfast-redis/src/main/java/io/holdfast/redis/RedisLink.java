// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A client's two connections to one server: one for commands, one for the messages to its channel.
 *
 * <p>A connection for commands counts as up when {@link RedisScript#CHECK} went through; one for messages when the
 * subscription is confirmed. So whoever queues after {@link #connect()} is subscribed before.
 */
final class RedisLink {
  /** How many request time-outs without any answer make a connection dead. */
  private static final int SILENCE = 3;

  private final String store;
  private final StoreRuntime runtime;
  private final RedisConnector connector;
  private final RedisKeys keys;
  private final RedisClock clock;
  private final RedisLine<StatefulRedisConnection<byte[], byte[]>> commands;
  private final RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>> messages;

  private final AtomicBoolean watching = new AtomicBoolean();
  private volatile @Nullable Traffic traffic;

  /** What is under way on one connection: requests without an answer, and since when there has been none. */
  private static final class Traffic {
    final StatefulRedisConnection<byte[], byte[]> connection;
    final AtomicInteger unanswered = new AtomicInteger();
    volatile long silentSince;

    Traffic(StatefulRedisConnection<byte[], byte[]> connection) {
      this.connection = connection;
    }
  }

  RedisLink(
      String store,
      StoreRuntime runtime,
      StoreEvents events,
      RedisConnector connector,
      RedisKeys keys,
      RedisClock clock,
      Consumer<byte[]> receiver) {
    this.store = store;
    this.runtime = runtime;
    this.connector = connector;
    this.keys = keys;
    this.clock = clock;
    this.commands = new RedisLine<>(
        runtime,
        new RedisLine.Use<>(connector::commands, this::check, events::restored, events::disturbed));
    this.messages = new RedisLine<>(
        runtime,
        new RedisLine.Use<>(
            connector::messages,
            connection -> subscribe(connection, receiver),
            // messages may have been missed meanwhile
            events::lookAgainAll,
            () -> {}));
  }

  CompletionStage<@Nullable Void> connect() {
    // both at once: each is a round trip or two
    CompletionStage<?> subscribed = messages.open();
    connector.watch(runtime, this::moved);
    return this.<@Nullable Void>mapped(
        commands.open().thenCombine(subscribed, (one, other) -> null));
  }

  private CompletionStage<List<Object>> check(StatefulRedisConnection<byte[], byte[]> connection) {
    return send(
        connection.async(), RedisScript.CHECK, keys.ofNothing(), new byte[][] {keys.channel()});
  }

  private CompletionStage<?> subscribe(
      StatefulRedisPubSubConnection<byte[], byte[]> connection, Consumer<byte[]> receiver) {
    connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
      @Override
      public void message(byte[] channel, byte[] message) {
        receiver.accept(message);
      }
    });
    return connection.async().subscribe(new byte[][] {keys.channelOf(runtime.client())});
  }

  /** Runs a script; its answer begins with the server's time. */
  CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    return ask(redis -> send(redis, script, of, arguments));
  }

  /** Sends a command; what fails is a failure of ours. */
  <T> CompletionStage<T> ask(
      Function<RedisAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
    StatefulRedisConnection<byte[], byte[]> connection = commands.current();
    if (connection == null) {
      return CompletableFuture.failedFuture(RedisErrors.down(store));
    }
    Traffic on = sent(connection);
    CompletableFuture<T> answer = new CompletableFuture<>();
    command.apply(connection.async()).whenComplete((value, failure) -> {
      answered(on);
      if (failure == null) {
        answer.complete(value);
        return;
      }
      if (RedisErrors.isReadOnly(failure) && connection.equals(commands.current())) {
        moved();
      }
      answer.completeExceptionally(RedisErrors.of(store, failure));
    });
    return answer;
  }

  private CompletionStage<List<Object>> send(
      RedisAsyncCommands<byte[], byte[]> redis,
      RedisScript script,
      byte[][] of,
      byte[][] arguments) {
    CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    RedisFuture<List<Object>> first =
        redis.evalsha(script.sha(), ScriptOutputType.MULTI, of, arguments);
    first.whenComplete((value, failure) -> {
      if (failure != null && RedisErrors.isNoScript(failure)) {
        // it was not run, so that sending it is no repetition; the server knows it from now on
        RedisFuture<List<Object>> whole =
            redis.eval(script.text(), ScriptOutputType.MULTI, of, arguments);
        whole.whenComplete((late, again) -> settle(answer, late, again));
      } else {
        settle(answer, value, failure);
      }
    });
    return answer;
  }

  private void settle(
      CompletableFuture<List<Object>> answer,
      @Nullable List<Object> value,
      @Nullable Throwable failure) {
    if (value == null) {
      answer.completeExceptionally(
          failure == null ? new IllegalStateException("an empty answer") : failure);
      return;
    }
    try {
      clock.heard(RedisAnswer.number(value, 0));
      answer.complete(value);
    } catch (RuntimeException e) {
      answer.completeExceptionally(e);
    }
  }

  private Traffic sent(StatefulRedisConnection<byte[], byte[]> connection) {
    Traffic current = traffic;
    if (current == null || !current.connection.equals(connection)) {
      // two threads may both make one; what is counted in the other is only not watched
      current = new Traffic(connection);
      traffic = current;
    }
    if (current.unanswered.getAndIncrement() == 0) {
      current.silentSince = runtime.ticker().nanos();
    }
    if (watching.compareAndSet(false, true)) {
      watch();
    }
    return current;
  }

  private void answered(Traffic on) {
    on.silentSince = runtime.ticker().nanos();
    on.unanswered.decrementAndGet();
  }

  /** Nothing tells that the other end of a connection has vanished, while we wait for its answers: so it is guessed. */
  private void watch() {
    runtime.scheduler().schedule(this::look, runtime.requestTimeout().toNanos());
  }

  private void look() {
    Traffic current = traffic;
    if (current == null
        || !current.connection.equals(commands.current())
        || current.unanswered.get() == 0) {
      watching.set(false);
      return;
    }
    long limit = runtime.requestTimeout().toNanos() * SILENCE;
    if (runtime.ticker().nanos() - current.silentSince > limit) {
      moved();
    }
    watch();
  }

  /** Both connections are of no use any more: the next ones may lead to another server. */
  private void moved() {
    commands.replace();
    messages.replace();
  }

  private <T extends @Nullable Object> CompletionStage<T> mapped(CompletionStage<T> stage) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    stage.whenComplete((value, failure) -> {
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(RedisErrors.of(store, failure));
      }
    });
    return answer;
  }

  void close() {
    CompletionStage<?> closed = CompletableFuture.allOf(commands.close(), messages.close());
    closed.whenComplete((done, failure) -> connector.close());
  }
}
