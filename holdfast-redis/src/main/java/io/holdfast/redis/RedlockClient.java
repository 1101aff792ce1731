// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One client for all nodes, so that they share its threads. */
final class RedlockClient {
  private final RedisDriver driver;
  private int users;

  RedlockClient(Duration connectTimeout, @Nullable SslOptions tls) {
    this.driver = RedisDriver.own(connectTimeout, tls);
  }

  /** Returns what opens connections to one node; the client is closed with the last of them. */
  synchronized RedisConnector to(RedisURI node) {
    users++;
    return new RedisConnector() {
      @Override
      public CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands() {
        return driver.commands(node);
      }

      @Override
      public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages() {
        return driver.messages(node);
      }

      @Override
      public void close() {
        leave();
      }
    };
  }

  private synchronized void leave() {
    users--;
    if (users == 0) {
      close();
    }
  }

  void close() {
    driver.close();
  }
}
