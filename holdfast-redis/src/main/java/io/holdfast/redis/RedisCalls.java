// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.HoldfastException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.WriteUnknownException;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs scripts for an application's own data, on its connection, on one that its client opens, or on a store's. */
final class RedisCalls implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final String GIVEN = "redis (the application's client)";

  private final String store;
  private final Runner runner;
  private final @Nullable StatefulConnection<?, ?> own;

  /** Sends a script to where its keys are. */
  interface Runner {
    CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments);
  }

  private RedisCalls(String store, Runner runner, @Nullable StatefulConnection<?, ?> own) {
    this.store = store;
    this.runner = runner;
    this.own = own;
  }

  static RedisCalls of(String store, Runner runner) {
    return new RedisCalls(store, runner, null);
  }

  static RedisCalls on(RedisClusterAsyncCommands<byte[], byte[]> commands) {
    Objects.requireNonNull(commands, "commands");
    return new RedisCalls(GIVEN, runner(commands), null);
  }

  static RedisCalls using(RedisClient client) {
    Objects.requireNonNull(client, "client");
    return opened(() -> {
      var connection = client.connect(ByteArrayCodec.INSTANCE);
      return new RedisCalls(GIVEN, runner(connection.async()), connection);
    });
  }

  static RedisCalls using(RedisClusterClient client) {
    Objects.requireNonNull(client, "client");
    return opened(() -> {
      var connection = client.connect(ByteArrayCodec.INSTANCE);
      return new RedisCalls(GIVEN, runner(connection.async()), connection);
    });
  }

  private static RedisCalls opened(Supplier<RedisCalls> opening) {
    try {
      return opening.get();
    } catch (RuntimeException e) {
      throw unavailable(GIVEN, RedisErrors.unconnected(GIVEN, e));
    }
  }

  private static Runner runner(RedisClusterAsyncCommands<byte[], byte[]> redis) {
    return (script, of, arguments) -> {
      CompletableFuture<List<Object>> answer = new CompletableFuture<>();
      if (script.keepsOrder()) {
        whole(redis, script, of, arguments, answer);
        return answer;
      }
      redis
          .<List<Object>>evalsha(script.sha(), ScriptOutputType.MULTI, of, arguments)
          .whenComplete((value, failure) -> {
            if (failure != null && RedisErrors.isNoScript(failure)) {
              // it was not run, so that sending it is no repetition; the server knows it from now on
              whole(redis, script, of, arguments, answer);
            } else {
              settle(answer, value, failure);
            }
          });
      return answer;
    };
  }

  private static void whole(
      RedisClusterAsyncCommands<byte[], byte[]> redis,
      RedisScript script,
      byte[][] of,
      byte[][] arguments,
      CompletableFuture<List<Object>> answer) {
    redis
        .<List<Object>>eval(script.text(), ScriptOutputType.MULTI, of, arguments)
        .whenComplete((value, failure) -> settle(answer, value, failure));
  }

  private static void settle(
      CompletableFuture<List<Object>> answer,
      @Nullable List<Object> value,
      @Nullable Throwable failure) {
    if (value != null) {
      answer.complete(value);
    } else {
      answer.completeExceptionally(
          failure == null ? new IllegalStateException("an empty answer") : failure);
    }
  }

  String store() {
    return store;
  }

  /**
   * Runs a script that writes. The stage fails as an application is told: {@link StoreUnavailableException} if nothing
   * was changed, {@link WriteUnknownException} if nobody knows.
   */
  CompletableFuture<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    CompletionStage<List<Object>> sent;
    try {
      sent = runner.run(script, of, arguments);
    } catch (RuntimeException e) {
      // a closed connection: nothing was sent
      return CompletableFuture.failedFuture(new StoreUnavailableException(
          store + ": " + e.getMessage(), null, store, Reason.UNREACHABLE, e));
    }
    sent.whenComplete((value, failure) -> {
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(told(RedisErrors.of(store, failure)));
      }
    });
    return answer;
  }

  private RuntimeException told(RuntimeException failure) {
    boolean unknown = failure instanceof StoreException said && !said.notApplied();
    return unknown ? unknown(failure) : unavailable(store, failure);
  }

  private WriteUnknownException unknown(@Nullable Throwable failure) {
    String found = failure == null ? "no answer in time" : failure.getMessage();
    return new WriteUnknownException(
        store + ": " + found + "; it may or may not have been written", store, failure);
  }

  private static RuntimeException unavailable(String store, RuntimeException failure) {
    return failure instanceof StoreException said
        ? new StoreUnavailableException(
            String.valueOf(said.getMessage()), null, store, said.reason(), said)
        : failure;
  }

  /** Waits for an answer, for as long as a request may take. */
  <T extends @Nullable Object> T await(CompletableFuture<T> answer) throws InterruptedException {
    try {
      return answer.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw unknown(null);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof HoldfastException known) {
        throw known;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Closes a connection that was opened for this; a given one stays as it is. */
  @Override
  public void close() {
    if (own != null) {
      own.close();
    }
  }
}
