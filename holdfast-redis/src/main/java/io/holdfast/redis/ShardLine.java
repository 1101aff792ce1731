// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The subscription at one node of a cluster for what is published there alone: a sharded channel, whose name has a hash
 * tag in one of the node's slots. Waiters at this node are known with it, so that whoever hands a lock over to them tells
 * this node's subscribers and not, over the cluster's bus, those of every node.
 *
 * <p>Only a short cut: servers before Redis 7 do not have it, and where it fails, messages go to the plain channel.
 */
final class ShardLine {
  private final Supplier<byte @Nullable []> chooser;
  private final Consumer<byte[]> receiver;
  private final RedisLine<StatefulRedisPubSubConnection<byte[], byte[]>> line;
  private volatile byte @Nullable [] subscribed;

  /** Whether the server has answered that it cannot, or may not. */
  private volatile boolean refused;

  /**
   * Makes a line that is down.
   *
   * @param chooser names a channel in one of the node's slots; null if it has none
   * @param missed is run when messages may have been missed
   */
  ShardLine(
      StoreRuntime runtime,
      RedisOpener<StatefulRedisPubSubConnection<byte[], byte[]>> opener,
      Supplier<byte @Nullable []> chooser,
      Consumer<byte[]> receiver,
      Runnable missed) {
    this.chooser = chooser;
    this.receiver = receiver;
    this.line = new RedisLine<>(
        runtime, RedisLine.Use.of(opener, this::subscribe, missed, this::unsubscribed));
  }

  private CompletionStage<?> subscribe(StatefulRedisPubSubConnection<byte[], byte[]> connection) {
    byte[] channel = chooser.get();
    if (channel == null) {
      return CompletableFuture.failedFuture(RedisErrors.down("the node without slots"));
    }
    connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
      @Override
      public void smessage(byte[] from, byte[] message) {
        receiver.accept(message);
      }

      @Override
      public void sunsubscribed(byte[] from, long count) {
        // the slot is another node's now: the next channel is in one that is not
        line.drop(connection);
      }
    });
    return connection.async().ssubscribe(new byte[][] {channel}).whenComplete((done, failure) -> {
      if (failure == null) {
        subscribed = channel;
      } else {
        refused = RedisErrors.isRefusal(failure);
      }
    });
  }

  private void unsubscribed() {
    subscribed = null;
  }

  /** Subscribes, if it has not and the server can. */
  void open() {
    if (line.current() == null && !refused) {
      var unused = line.open();
    }
  }

  /** Returns the channel that is subscribed to; null if there is none now. */
  byte @Nullable [] channel() {
    return line.current() == null ? null : subscribed;
  }

  /** Takes another channel, if this one's slot is not the node's any more. */
  void check(Predicate<byte[]> isHere) {
    byte[] channel = subscribed;
    if (channel != null && !isHere.test(channel)) {
      line.replace();
    }
  }

  CompletableFuture<?> close() {
    return line.close();
  }
}
