// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's registry, with messages or with polling. */
final class SpringRedis implements Peer {
  private final LettuceConnectionFactory connections;
  private final RedisLockRegistry registry;

  SpringRedis(int port, RedisLockRegistry.RedisLockType type) {
    connections = new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
    connections.afterPropertiesSet();
    connections.start();
    registry = new RedisLockRegistry(connections, "spring-" + type);
    registry.setRedisLockType(type);
  }

  @Override
  public Contention.Guard lock(String name) {
    return RedissonPeer.guard(registry.obtain(name));
  }

  @Override
  public void close() {
    registry.destroy();
    connections.destroy();
  }
}
