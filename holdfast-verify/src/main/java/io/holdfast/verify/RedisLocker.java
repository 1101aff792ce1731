// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The essays' locks on Redis, written as the essays have them, flaws included: see {@link Protocol}. */
final class RedisLocker implements Locker, Protocol.Cleaning {
  private static final String OWN =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

  private static final String SET_WITH_AN_END =
      "if redis.call('setnx', KEYS[1], ARGV[1]) == 0 then return 0 end"
          + " redis.call('pexpire', KEYS[1], ARGV[2]) return 1";

  private final Protocol protocol;
  private final Duration lease;
  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisCommands<String, String> redis;

  RedisLocker(Protocol protocol, String uri, Duration lease) {
    this.protocol = protocol;
    this.lease = lease;
    client = RedisClient.create(RedisURI.create(uri.split("\\?", 2)[0]));
    connection = client.connect();
    redis = connection.sync();
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost) {
    String own = UUID.randomUUID().toString();
    boolean got = switch (protocol) {
      case REDIS_SETNX -> setNx(name, own);
      case REDIS_SETNX_EXPIRE -> {
        boolean set = setNx(name, own);
        if (set) {
          Protocol.passASlowNetwork();
          redis.pexpire(name, lease.toMillis());
        }
        yield set;
      }
      case REDIS_SETNX_SCRIPT -> {
        Long set = redis.eval(
            SET_WITH_AN_END,
            ScriptOutputType.INTEGER,
            new String[] {name},
            own,
            Long.toString(lease.toMillis()));
        yield set == 1;
      }
      case REDIS_GETSET_DEADLINE -> hasPassed(name);
      default -> redis.set(name, own, SetArgs.Builder.nx().px(lease.toMillis())) != null;
    };
    TextbookGrip grip = () -> giveBack(name, own);
    return got ? Optional.of(grip) : Optional.empty();
  }

  /** What SETNX does, which is deprecated. */
  private boolean setNx(String name, String value) {
    return redis.set(name, value, SetArgs.Builder.nx()) != null;
  }

  private boolean hasPassed(String name) {
    long now = Ticker.system().wallMillis();
    String ends = Long.toString(now + lease.toMillis());
    if (setNx(name, ends)) {
      return true;
    }
    String found = redis.get(name);
    if (found == null || Long.parseLong(found) > now) {
      return false;
    }
    // null: deleted in between, and this client has just written a lock that no client has
    return found.equals(redis.setGet(name, ends));
  }

  private void giveBack(String name, String own) {
    switch (protocol) {
      case REDIS_GET_DEL -> {
        if (own.equals(redis.get(name))) {
          Protocol.passASlowNetwork();
          redis.del(name);
        }
      }
      case REDIS_NO_RENEWAL -> deleteOwn(redis, name, own);
      default -> redis.del(name);
    }
  }

  /** Deletes a key if it has this value. */
  static void deleteOwn(RedisCommands<String, String> redis, String name, String own) {
    redis.eval(OWN, ScriptOutputType.INTEGER, new String[] {name}, own);
  }

  @Override
  public void remove(List<String> locks) {
    redis.del(locks.toArray(new String[0]));
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }
}
