// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Independent servers that keep nothing on disk, each a process of its own. */
final class RedlockNodes implements AutoCloseable {
  private static final String MARKER = "holdfast:{}:m";
  private static final Pattern RUN = Pattern.compile("run_id:(\\w+)");
  private static final Pattern EVICTED = Pattern.compile("evicted_keys:(\\d+)");

  private final RedlockRule rule;
  private final List<RedisServer> servers = new ArrayList<>();
  private final List<RedisClient> clients = new ArrayList<>();
  private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();

  /** Starts servers that may vote at once, although they are new. */
  RedlockNodes(RedlockRule rule) {
    this(rule, Stream.generate(RedisServer::forgetful).limit(rule.nodes()).toList());
  }

  /** The same, and their clocks can be moved. */
  static RedlockNodes withClocks(RedlockRule rule) {
    return new RedlockNodes(
        rule, Stream.generate(RedisServer::withAClock).limit(rule.nodes()).toList());
  }

  /** Uses servers that run already, in the same way. */
  RedlockNodes(RedlockRule rule, List<RedisServer> running) {
    this.rule = rule;
    for (int i = 0; i < rule.nodes(); i++) {
      servers.add(running.get(i));
      RedisClient client =
          RedisClient.create(RedisURI.create("127.0.0.1", servers.get(i).port()));
      clients.add(client);
      connections.add(client.connect());
      mayVote(i);
    }
  }

  RedlockRule rule() {
    return rule;
  }

  RedisServer server(int node) {
    return servers.get(node);
  }

  /** Asks a node, past the store. */
  RedisCommands<String, String> redis(int node) {
    return connections.get(node).sync();
  }

  String uri() {
    return uri(servers.stream().map(RedisServer::port));
  }

  private String uri(Stream<Integer> ports) {
    return "redlock://"
        + ports.map(each -> "127.0.0.1:" + each).collect(Collectors.joining(","))
        + "?holdfast.max-lease=" + rule.maxLease().toMillis() + "ms";
  }

  /** Opens a store with the rule of these nodes. */
  RedlockStore store() {
    return store(rule);
  }

  /** Opens a store with another rule, of the same longest lease. */
  RedlockStore store(RedlockRule other) {
    return store(uri(), other);
  }

  /** Opens a store that reaches these nodes by other ports. */
  RedlockStore store(Stream<Integer> ports) {
    return store(uri(ports), rule);
  }

  private static RedlockStore store(String uri, RedlockRule rule) {
    StoreAddress address = StoreAddress.parse(uri);
    return RedlockStore.at(address, new RedlockAddress(address), rule);
  }

  /** Whether each node has given its vote for a lock to somebody. */
  boolean haveAllVoted(String lockName) {
    for (int i = 0; i < servers.size(); i++) {
      String claim = redis(i).hget("holdfast:{" + lockName + "}", "c");
      if (claim == null || claim.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Sets the marker as if the node had served its time of abstention. */
  void mayVote(int node) {
    redis(node)
        .hset(
            MARKER,
            Map.of(
                "v",
                "R1",
                "id",
                identity(node),
                "m",
                Long.toString(rule.maxLeaseMicros()),
                "b",
                "0"));
  }

  private String identity(int node) {
    return found(RUN, redis(node).info("server")) + "-"
        + found(EVICTED, redis(node).info("stats"));
  }

  private static String found(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.find()) {
      throw new AssertionError("INFO without " + pattern);
    }
    return matcher.group(1);
  }

  /** Forgets everything, and may vote at once. */
  void clear() {
    for (int i = 0; i < servers.size(); i++) {
      redis(i).flushall();
      mayVote(i);
    }
  }

  @Override
  public void close() {
    connections.forEach(StatefulRedisConnection::close);
    clients.forEach(Direct::close);
    servers.forEach(RedisServer::close);
  }
}
