// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson: its plain, its fair or its fenced lock. */
final class RedissonPeer implements Peer {
  private final RedissonClient client;
  private final BiFunction<RedissonClient, String, Lock> kind;

  RedissonPeer(String uri, BiFunction<RedissonClient, String, Lock> kind) {
    this.kind = kind;
    Config config = new Config();
    config.useSingleServer().setAddress(uri);
    client = Redisson.create(config);
  }

  @Override
  public Contention.Guard lock(String name) {
    return guard(kind.apply(client, name));
  }

  @Override
  public Held hold(String name) {
    // the whole object, as somebody would keep it who has to let it go later
    RLock lock = (RLock) kind.apply(client, name);
    lock.lock();
    return lock::isLocked;
  }

  /** Takes a lock as its documentation shows it. */
  static Contention.Guard guard(Lock lock) {
    return inside -> {
      lock.lock();
      try {
        inside.run();
      } finally {
        lock.unlock();
      }
    };
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
