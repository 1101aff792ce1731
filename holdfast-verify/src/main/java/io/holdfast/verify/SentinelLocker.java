// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A lock at the primary that the sentinels name, right but for one thing: owner-checked, with a lease that its holder counts
 * from before he asked, and does not outlive; and lost in a failover. See {@link Protocol#REDIS_FAILOVER}.
 */
final class SentinelLocker implements Locker, Protocol.Cleaning {
  private final Ticker ticker = Ticker.system();
  private final Sentinels sentinels;
  private final Duration lease;
  private @Nullable RedisURI at;
  private @Nullable StatefulRedisConnection<String, String> connection;

  SentinelLocker(String uri, Duration lease) {
    this.lease = lease;
    sentinels = new Sentinels(uri);
  }

  /** Asks each time: nobody is left at a former primary for longer than the sentinels take to name another one. */
  private RedisCommands<String, String> primary() {
    RedisURI now = sentinels.primary();
    StatefulRedisConnection<String, String> open = connection;
    if (open == null || !now.equals(at)) {
      leave();
      open = sentinels.connect(now);
      connection = open;
      at = now;
    }
    return open.sync();
  }

  private void leave() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost) {
    String own = UUID.randomUUID().toString();
    RedisCommands<String, String> redis = primary();
    long until = ticker.nanos() + lease.toNanos();
    return redis.set(name, own, SetArgs.Builder.nx().px(lease.toMillis())) == null
        ? Optional.empty()
        : Optional.of(new TimedGrip(
            ticker, until, onLost, () -> RedisLocker.deleteOwn(primary(), name, own)));
  }

  @Override
  public void remove(List<String> locks) {
    primary().del(locks.toArray(new String[0]));
  }

  @Override
  public void close() {
    leave();
    sentinels.close();
  }
}
