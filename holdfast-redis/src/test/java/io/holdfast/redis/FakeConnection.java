// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.PipelinedRedisFuture;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A driver's connection that leads nowhere. It can be listened to and closed; what is asked is answered, or not, by the
 * test.
 */
@SuppressWarnings("ReferenceEquality") // a connection is itself
final class FakeConnection {
  /** Commands of the driver's own; to be answered by the test. */
  final List<CompletableFuture<Object>> asked = new ArrayList<>();

  /** Scripts' calls. */
  final List<RedisCommand<?, ?, ?>> dispatched = new ArrayList<>();

  /** Thrown by the next script's call; null for none. */
  @Nullable
  Error broken;

  /** Answers the driver's own commands at once; null if the test does. */
  @Nullable
  Supplier<Object> answer;

  private boolean closed;

  final StatefulRedisPubSubConnection<byte[], byte[]> connection =
      proxy(StatefulRedisPubSubConnection.class, (proxy, method, arguments) -> {
        switch (method.getName()) {
          case "closeAsync" -> {
            closed = true;
            return CompletableFuture.completedFuture(null);
          }
          case "isOpen" -> {
            return !closed;
          }
          case "addListener" -> {
            return null;
          }
          case "async" -> {
            return commands();
          }
          case "dispatch" -> {
            return dispatch((RedisCommand<?, ?, ?>) arguments[0]);
          }
          case "equals" -> {
            return proxy == arguments[0];
          }
          case "hashCode" -> {
            return System.identityHashCode(this);
          }
          case "toString" -> {
            return closed ? "closed" : "open";
          }
          default -> throw new UnsupportedOperationException(method.getName());
        }
      });

  /** Makes an open one. */
  static StatefulConnection<byte[], byte[]> open() {
    return new FakeConnection().connection;
  }

  static boolean isClosed(StatefulConnection<?, ?> connection) {
    return !connection.isOpen();
  }

  @SuppressWarnings("unchecked")
  private static <T> T proxy(Class<? super T> type, InvocationHandler handler) {
    return (T) Proxy.newProxyInstance(
        FakeConnection.class.getClassLoader(), new Class<?>[] {type}, handler);
  }

  private RedisPubSubAsyncCommands<byte[], byte[]> commands() {
    return proxy(RedisPubSubAsyncCommands.class, (proxy, method, arguments) -> {
      CompletableFuture<Object> asking = new CompletableFuture<>();
      asked.add(asking);
      Supplier<Object> known = answer;
      if (known != null) {
        asking.complete(known.get());
      }
      return new PipelinedRedisFuture<>(asking);
    });
  }

  private RedisCommand<?, ?, ?> dispatch(RedisCommand<?, ?, ?> command) {
    dispatched.add(command);
    Error now = broken;
    broken = null;
    if (now != null) {
      throw now;
    }
    return command;
  }
}
