// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import org.redisson.api.RedissonClient;

/** Who is measured on a Redis server. */
final class RedisPeers extends Peers {
  static final String PLAIN = "plain";
  static final String SCRIPTS = "our bare scripts";
  static final String REDISSON = "Redisson";
  static final String FAIR = "its fair lock";
  static final String FENCED = "its fenced lock";
  static final String SPRING = "Spring";
  static final String TOKEN = "a token passed by BLPOP and LPUSH";

  RedisPeers(String port) {
    String uri = "redis://127.0.0.1:" + port;
    add(PLAIN, () -> new PlainRedis(uri));
    add(US, () -> new HoldfastPeer(uri));
    add(SCRIPTS, () -> new BareScripts(uri));
    add(REDISSON, () -> new RedissonPeer(uri, RedissonClient::getLock));
    add(FAIR, () -> new RedissonPeer(uri, RedissonClient::getFairLock));
    add(FENCED, () -> new RedissonPeer(uri, RedissonClient::getFencedLock));
    add(SPRING, () -> new SpringRedis("127.0.0.1", Integer.parseInt(port)));
    add(TOKEN, () -> new TokenPeer(uri));
  }
}
