// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock of most of several servers, right but for one thing: owner-checked, given back where too few have it, with a lease
 * that its holder does not outlive, but counts from the last answer. See {@link Protocol#REDLOCK_NO_ELAPSED}.
 */
final class RedlockLocker implements Locker, Protocol.Cleaning {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final int SLOW_ONE_IN = 4;

  private final Ticker ticker = Ticker.system();
  private final SplittableRandom random = new SplittableRandom();
  private final Duration lease;
  private final RedisClient client = RedisClient.create();
  private final List<StatefulRedisConnection<String, String>> servers = new ArrayList<>();

  RedlockLocker(String uri, Duration lease) {
    this.lease = lease;
    String rest = StoreAddress.parse(uri).rest().substring(2);
    int slash = rest.indexOf('/');
    String authority = slash < 0 ? rest : rest.substring(0, slash);
    int at = authority.lastIndexOf('@');
    for (String host : authority.substring(at + 1).split(",", -1)) {
      RedisURI one = RedisURI.create("redis://" + authority.substring(0, at + 1) + host
          + (slash < 0 ? "" : rest.substring(slash)));
      one.setTimeout(PATIENCE);
      servers.add(client.connect(one));
    }
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost) {
    String own = UUID.randomUUID().toString();
    int votes = 0;
    for (StatefulRedisConnection<String, String> each : servers) {
      RedisCommands<String, String> redis = each.sync();
      votes += redis.set(name, own, SetArgs.Builder.nx().px(lease.toMillis())) == null ? 0 : 1;
    }
    if (votes <= servers.size() / 2) {
      giveBack(name, own);
      return Optional.empty();
    }
    if (random.nextInt(SLOW_ONE_IN) == 0) {
      LockSupport.parkNanos(lease.toNanos() * 5 / 4);
    }
    // the flaw: from here on, and not from before the first was asked
    long until = ticker.nanos() + lease.toNanos();
    return Optional.of(new TimedGrip(ticker, until, onLost, () -> giveBack(name, own)));
  }

  private void giveBack(String name, String own) {
    servers.forEach(each -> RedisLocker.deleteOwn(each.sync(), name, own));
  }

  @Override
  public void remove(List<String> locks) {
    servers.forEach(each -> each.sync().del(locks.toArray(new String[0])));
  }

  @Override
  public void close() {
    servers.forEach(StatefulRedisConnection::close);
    client.shutdown(Duration.ZERO, PATIENCE);
  }
}
