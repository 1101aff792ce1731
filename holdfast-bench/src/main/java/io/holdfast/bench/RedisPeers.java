// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import org.redisson.api.RedissonClient;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Who is measured on a Redis server. */
final class RedisPeers extends Peers {
  static final String SCRIPTS = "our bare scripts";
  static final String REDISSON = "Redisson";
  static final String FAIR = "Redisson, fair";
  static final String FENCED = "Redisson, fenced";
  static final String SPIN = "Redisson, spin";
  static final String SPRING = "Spring, pub/sub";
  static final String SPRING_SPIN = "Spring, spin";
  static final String TOKEN = "floor: BLPOP and LPUSH";

  RedisPeers(String port) {
    String uri = "redis://127.0.0.1:" + port;
    add(FLOOR, () -> new PlainRedis(uri));
    add(US, () -> new HoldfastPeer(uri));
    add(SCRIPTS, () -> new BareScripts(uri));
    add(REDISSON, () -> new RedissonPeer(uri, RedissonClient::getLock));
    add(FAIR, () -> new RedissonPeer(uri, RedissonClient::getFairLock));
    add(FENCED, () -> new RedissonPeer(uri, RedissonClient::getFencedLock));
    add(SPIN, () -> new RedissonPeer(uri, RedissonClient::getSpinLock));
    add(SPRING, () -> new SpringRedis(Integer.parseInt(port), RedisLockType.PUB_SUB_LOCK));
    add(SPRING_SPIN, () -> new SpringRedis(Integer.parseInt(port), RedisLockType.SPIN_LOCK));
    add(TOKEN, () -> new TokenPeer(uri));
  }
}
