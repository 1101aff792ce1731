// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Reads the address of a set of nodes. Its parts may be secret: nothing here is shown. */
final class RedlockAddress {
  private static final int FEWEST = 3;
  private static final int MOST = 63;
  private static final Duration SHORTEST_MAX_LEASE = Duration.ofSeconds(1);
  private static final Duration LONGEST_MAX_LEASE = Duration.ofDays(366);

  private final StoreAddress address;
  private final List<RedisURI> nodes;

  RedlockAddress(StoreAddress address) {
    this.address = address;
    address.requireOnly("prefix", "retention", "connect-timeout", "client-name", "max-lease");
    if (address.url().indexOf('?') >= 0) {
      // not shown: some drivers take a password there
      throw wrong("a Redlock address takes only holdfast.* parameters");
    }
    this.nodes = read();
    requireOdd();
    requireDifferent();
  }

  private List<RedisURI> read() {
    String rest = address.rest();
    if (!rest.startsWith("//")) {
      throw wrong("write redlock://HOST1:PORT,HOST2:PORT,HOST3:PORT");
    }
    int slash = rest.indexOf('/', 2);
    String authority = slash < 0 ? rest.substring(2) : rest.substring(2, slash);
    String database = slash < 0 ? "" : rest.substring(slash);
    int at = authority.lastIndexOf('@');
    String user = authority.substring(0, at + 1);
    List<RedisURI> found = new ArrayList<>();
    for (String node : authority.substring(at + 1).split(",", -1)) {
      if (node.isEmpty()) {
        throw wrong("a node has no name; write redlock://HOST1:PORT,HOST2:PORT,HOST3:PORT");
      }
      found.add(uri("redis://" + user + node + database));
    }
    return List.copyOf(found);
  }

  /** Every node is read as the one server of an address of its own. */
  private RedisURI uri(String single) {
    StringBuilder text = new StringBuilder(single);
    char separator = '?';
    for (String option : List.of("connect-timeout", "client-name")) {
      String value = address.option(option).orElse(null);
      if (value != null) {
        text.append(separator)
            .append("holdfast.")
            .append(option)
            .append('=')
            .append(java.net.URLEncoder.encode(value, java.nio.charset.StandardCharsets.UTF_8));
        separator = '&';
      }
    }
    return new RedisAddress(StoreAddress.parse(text.toString())).uri();
  }

  private void requireOdd() {
    if (nodes.size() < FEWEST || nodes.size() % 2 == 0 || nodes.size() > MOST) {
      throw wrong("it names " + nodes.size()
          + " nodes; Redlock needs an odd number of them, 3 or more: one more"
          + " than an odd number tolerates no more failures");
    }
  }

  private void requireDifferent() {
    Set<String> seen = new HashSet<>();
    for (RedisURI node : nodes) {
      if (!seen.add(describe(node).toLowerCase(Locale.ROOT))) {
        throw wrong(describe(node) + " is named twice; each node must be a server of its own");
      }
    }
  }

  List<RedisURI> nodes() {
    return nodes;
  }

  static String describe(RedisURI node) {
    return node.getHost() + ":" + node.getPort();
  }

  RedlockRule rule() {
    Duration maxLease = address.duration(
        "max-lease", RedlockRule.DEFAULT_MAX_LEASE, SHORTEST_MAX_LEASE, LONGEST_MAX_LEASE);
    return new RedlockRule(nodes.size(), maxLease, RedlockRule.REACH);
  }

  Duration connectTimeout() {
    return nodes.get(0).getTimeout();
  }

  private ConfigurationException wrong(String message) {
    return new ConfigurationException(message, address.toString(), null);
  }
}
