// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletionStage;

/** Opens connections to one server. Bytes in, bytes out: no charset decides over names. */
interface RedisConnector {
  /** Opens a connection for commands; never blocks. */
  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands();

  /** Opens a connection for messages; never blocks. */
  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages();

  /** Lets go of what is its own. The connections were closed before. */
  void close();
}
