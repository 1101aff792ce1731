// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.redisson.api.RedissonClient;

/** Who is measured on a Redis server, by name, in the order of the tables; each is made when it is first asked for. */
final class RedisPeers implements AutoCloseable {
  static final String PLAIN = "plain";
  static final String US = "Holdfast";
  static final String SCRIPTS = "our bare scripts";
  static final String REDISSON = "Redisson";
  static final String FAIR = "its fair lock";
  static final String FENCED = "its fenced lock";
  static final String SPRING = "Spring";
  static final String TOKEN = "a token passed by BLPOP and LPUSH";

  private final Map<String, Supplier<RedisPeer>> makers = new LinkedHashMap<>();
  private final Map<String, RedisPeer> made = new LinkedHashMap<>();

  RedisPeers(int port) {
    String uri = "redis://127.0.0.1:" + port;
    makers.put(PLAIN, () -> new PlainRedis(uri));
    makers.put(US, () -> new HoldfastRedis(uri));
    makers.put(SCRIPTS, () -> new BareScripts(uri));
    makers.put(REDISSON, () -> new RedissonPeer(uri, RedissonClient::getLock));
    makers.put(FAIR, () -> new RedissonPeer(uri, RedissonClient::getFairLock));
    makers.put(FENCED, () -> new RedissonPeer(uri, RedissonClient::getFencedLock));
    makers.put(SPRING, () -> new SpringPeer("127.0.0.1", port));
    makers.put(TOKEN, () -> new TokenPeer(uri));
  }

  RedisPeer get(String name) {
    RedisPeer peer = made.get(name);
    if (peer == null) {
      Supplier<RedisPeer> maker = makers.get(name);
      if (maker == null) {
        throw new IllegalArgumentException("nobody is called " + name);
      }
      peer = maker.get();
      made.put(name, peer);
    }
    return peer;
  }

  @Override
  public void close() {
    made.values().forEach(RedisPeer::close);
  }
}
