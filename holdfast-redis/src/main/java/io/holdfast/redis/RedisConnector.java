// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletionStage;

/** Opens connections to one server, or to whichever is the primary. Bytes in, bytes out: no charset decides over names. */
interface RedisConnector {
  /** Opens a connection for commands; never blocks. */
  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands();

  /** Opens a connection for messages; never blocks. */
  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages();

  /** Whether the connections come from an application's client ({@link RedisOpener#isLent}). */
  default boolean isLent() {
    return false;
  }

  /** From now on tells when the address leads to another server than before. A second call does nothing. */
  default void watch(StoreRuntime runtime, Runnable moved) {
    // one server stays where it is
  }

  /** Lets go of what is its own. The connections were closed before. */
  void close();
}
