// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.redis.RedisReplicas.Confirmed;
import io.holdfast.spi.Claim;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A client's two connections to one server: one for commands, one for the messages to its channel. The latter counts as
 * up when the subscription is confirmed: so whoever queues after {@link #connect()} is subscribed before.
 */
final class RedisLink implements RedisRoute {
  private final String store;
  private final StoreRuntime runtime;
  private final RedisConnector connector;
  private final RedisNode node;
  private final RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>> messages;

  RedisLink(
      String store,
      StoreRuntime runtime,
      StoreEvents events,
      RedisConnector connector,
      FirstQuestion first,
      byte[] channel,
      RedisClock clock,
      RedisReplicas.Rule replicas,
      Consumer<byte[]> receiver) {
    this.store = store;
    this.runtime = runtime;
    this.connector = connector;
    this.node = new RedisNode(
        store,
        runtime,
        RedisOpener.of(connector.isLent(), connector::commands),
        first,
        clock,
        replicas,
        listener(events));
    this.messages = new RedisLine<>(
        runtime,
        RedisLine.Use.of(
            RedisOpener.of(connector.isLent(), connector::messages),
            connection -> subscribe(connection, channel, receiver),
            // messages may have been missed meanwhile
            events::lookAgainAll,
            () -> {}));
  }

  private RedisNode.Listener listener(StoreEvents events) {
    return new RedisNode.Listener() {
      @Override
      public void up() {
        events.restored();
      }

      @Override
      public void down() {
        events.disturbed();
      }

      @Override
      public void astray() {
        moved();
      }
    };
  }

  /** Subscribes to one channel. */
  static CompletionStage<?> subscribe(
      StatefulRedisPubSubConnection<byte[], byte[]> connection,
      byte[] channel,
      Consumer<byte[]> receiver) {
    connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
      @Override
      public void message(byte[] from, byte[] message) {
        receiver.accept(message);
      }
    });
    return connection.async().subscribe(new byte[][] {channel});
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    // both at once: each is a round trip or two
    CompletionStage<?> subscribed = messages.open();
    connector.watch(runtime, this::moved);
    return RedisErrors.<@Nullable Void>connecting(
        store, node.open().thenCombine(subscribed, (one, other) -> null));
  }

  /** Both connections are of no use any more: the next ones may lead to another server. */
  void moved() {
    node.replace();
    messages.replace();
  }

  /** The messages may come from another server than the one that is asked. */
  void subscribeAgain() {
    messages.replace();
  }

  @Override
  public CompletionStage<List<Object>> run(RedisScript script, byte[][] of, byte[]... arguments) {
    return node.run(script, of, arguments);
  }

  @Override
  public CompletionStage<Confirmed> runConfirmed(
      Predicate<List<Object>> counts, RedisScript script, byte[][] of, byte[]... arguments) {
    return Objects.requireNonNull(node.replicas(), "no replicas are asked for")
        .run(counts, script, of, arguments);
  }

  @Override
  public Collection<List<Claim>> together(List<Claim> claims) {
    return List.of(claims);
  }

  RedisNode node() {
    return node;
  }

  @Override
  public List<RedisNode> nodes() {
    return List.of(node);
  }

  @Override
  public Instant time() {
    return node.clock().now();
  }

  @Override
  public void close() {
    CompletionStage<?> closed = CompletableFuture.allOf(node.close(), messages.close());
    closed.whenComplete((done, failure) -> connector.close());
  }
}
