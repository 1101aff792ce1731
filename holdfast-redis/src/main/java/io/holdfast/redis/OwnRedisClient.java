// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Connections to one address, or to whom its sentinels name, with a client of our own. */
final class OwnRedisClient implements RedisConnector {
  private final RedisDriver driver;
  private volatile RedisURI uri;
  private @Nullable SentinelWatch watch;

  OwnRedisClient(RedisURI uri, @Nullable SslOptions tls, Duration connectTimeout) {
    this.uri = uri;
    this.driver = RedisDriver.own(connectTimeout, tls);
  }

  /** Uses the threads and the settings of an application's client, which it leaves alone otherwise. */
  OwnRedisClient(RedisURI uri, AbstractRedisClient given) {
    this.uri = uri;
    this.driver = RedisDriver.on(given);
  }

  @Override
  public CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands() {
    return commands(uri);
  }

  CompletionStage<StatefulRedisConnection<byte[], byte[]>> commands(RedisURI to) {
    return driver.commands(to);
  }

  @Override
  public CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages() {
    return messages(uri);
  }

  CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> messages(RedisURI from) {
    return driver.messages(from);
  }

  @Override
  public boolean isLent() {
    return driver.isLent();
  }

  @Override
  public synchronized void watch(StoreRuntime runtime, Runnable moved) {
    if (watch == null && !uri.getSentinels().isEmpty()) {
      watch = new SentinelWatch(runtime, uri, driver, sentinel -> {
        if (sentinel != null) {
          askFirst(sentinel);
        }
        moved.run();
      });
      watch.open();
    }
  }

  /** The driver asks the sentinels in their order, and takes the first answer. */
  private synchronized void askFirst(RedisURI sentinel) {
    RedisURI.Builder now = RedisURI.builder(uri)
        .withSentinelMasterId(uri.getSentinelMasterId())
        .withSentinel(sentinel);
    uri.getSentinels().stream().filter(each -> !each.equals(sentinel)).forEach(now::withSentinel);
    uri = now.build();
  }

  @Override
  public synchronized void close() {
    SentinelWatch watching = watch;
    if (watching == null) {
      driver.close();
    } else {
      // the driver complains of connections that are closed twice
      watching.close().whenComplete((done, failure) -> driver.close());
    }
  }
}
