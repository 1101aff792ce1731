// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The sentinels that an address names, and the servers that they know. Used by one thread. */
final class Sentinels implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final int PORT = 26379;

  private final RedisClient client = RedisClient.create();
  private final List<String> hosts;
  private final String login;
  private final String name;
  private final String user;
  private final String password;
  private @Nullable StatefulRedisSentinelConnection<String, String> connection;

  /**
   * Reads an address; nothing is contacted.
   *
   * @param uri one that {@link #areIn} has taken
   */
  Sentinels(String uri) {
    StoreAddress address = StoreAddress.parse(uri);
    String[] parts = address.rest().substring(2).split("/", -1);
    int at = parts[0].lastIndexOf('@');
    login = at < 0 ? "" : parts[0].substring(0, at + 1);
    hosts = List.of(parts[0].substring(at + 1).split(",", -1));
    name = URLDecoder.decode(parts[1].replace("+", "%2B"), StandardCharsets.UTF_8);
    user = address.option("sentinel-user").orElse("");
    password = address.option("sentinel-password").orElse("");
  }

  /** Says whether an address names sentinels that can be asked in the clear. */
  static boolean areIn(String uri) {
    return uri.toLowerCase(Locale.ROOT).matches("redis-sentinel://[^/]+/[^/?]+.*")
        && !uri.contains("holdfast.tls=true");
  }

  /** Returns the server that they call the primary. */
  RedisURI primary() {
    InetSocketAddress found =
        ask(sentinel -> (InetSocketAddress) sentinel.getMasterAddrByName(name));
    return server(found.getHostString(), found.getPort());
  }

  /** Returns the replicas that they know. */
  List<RedisURI> replicas() {
    return ask(sentinel -> sentinel.replicas(name)).stream()
        .map(each ->
            server(each.getOrDefault("ip", ""), Integer.parseInt(each.getOrDefault("port", "0"))))
        .toList();
  }

  /** Says whether a failover is possible: all that they know is there, and follows. */
  boolean areWell() {
    List<String> replicas = ask(sentinel -> sentinel.replicas(name)).stream()
        .map(each -> each.get("flags") + " " + each.get("master-link-status"))
        .toList();
    return "master".equals(ask(sentinel -> sentinel.master(name)).get("flags"))
        && !replicas.isEmpty()
        && replicas.stream().allMatch("slave ok"::equals);
  }

  /** Asks for a failover, as an operator does. */
  void failOver() {
    String unused = ask(sentinel -> sentinel.failover(name));
  }

  /** Connects to one of their servers, with the address's login. */
  StatefulRedisConnection<String, String> connect(RedisURI server) {
    return client.connect(server);
  }

  private RedisURI server(String host, int port) {
    String literal = host.indexOf(':') < 0 ? host : "[" + host + "]";
    RedisURI uri = RedisURI.create("redis://" + login + literal + ":" + port);
    uri.setTimeout(PATIENCE);
    return uri;
  }

  private <T> T ask(Function<RedisSentinelCommands<String, String>, T> what) {
    RedisException last = new RedisException("no sentinel is named");
    for (String host : hosts) {
      try {
        if (connection == null) {
          connection = client.connectSentinel(sentinel(host));
        }
        return what.apply(connection.sync());
      } catch (RedisException e) {
        last = e;
        forget();
      }
    }
    throw last;
  }

  private RedisURI sentinel(String host) {
    int colon = host.lastIndexOf(':');
    RedisURI.Builder uri = colon < 0
        ? RedisURI.Builder.redis(host, PORT)
        : RedisURI.Builder.redis(
            host.substring(0, colon), Integer.parseInt(host.substring(colon + 1)));
    if (!user.isEmpty()) {
      uri.withAuthentication(user, password.toCharArray());
    } else if (!password.isEmpty()) {
      uri.withPassword(password.toCharArray());
    }
    return uri.withTimeout(PATIENCE).build();
  }

  private void forget() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  @Override
  public void close() {
    forget();
    client.shutdown(Duration.ZERO, PATIENCE);
  }
}
