// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.ConfigurationException;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreAddress;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the address of a set of nodes. Its parts may be secret: nothing here is shown. */
final class RedlockAddress {
  private static final int FEWEST = 3;
  private static final int MOST = 63;
  private static final Duration SHORTEST_MAX_LEASE = Duration.ofSeconds(1);
  private static final Duration LONGEST_MAX_LEASE = Duration.ofDays(366);

  private static final List<String> EACH =
      List.of("connect-timeout", "client-name", "tls-ca", "tls-cert", "tls-key", "tls-verify");

  private final StoreAddress address;
  private final boolean tls;
  private final List<RedisAddress> singles = new ArrayList<>();
  private final List<RedisURI> nodes;

  RedlockAddress(StoreAddress address) {
    this.address = address;
    List<String> known =
        new ArrayList<>(List.of("prefix", "retention", "max-lease", RedisAddress.TLS_SWITCH));
    known.addAll(EACH);
    address.requireOnly(known.toArray(String[]::new));
    address.requireNoOthers("a Redlock address");
    this.tls = RedisAddress.isTls(address);
    if (!tls
        && EACH.stream()
            .anyMatch(each -> each.startsWith("tls-") && address.option(each).isPresent())) {
      throw wrong("holdfast.tls-... needs TLS; write holdfast.tls=true");
    }
    this.nodes = read();
    requireOdd();
    requireDifferent();
  }

  private List<RedisURI> read() {
    String rest = address.rest();
    if (!rest.startsWith("//")) {
      throw wrong("the address does not begin with redlock://; write "
          + "redlock://HOST1:PORT,HOST2:PORT,HOST3:PORT");
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
      found.add(uri((tls ? "rediss://" : "redis://") + user + node + database));
    }
    return List.copyOf(found);
  }

  /** Every node is read as the one server of an address of its own. */
  private RedisURI uri(String single) {
    StringBuilder text = new StringBuilder(single);
    char separator = '?';
    for (String option : EACH) {
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
    RedisAddress one = new RedisAddress(StoreAddress.parse(text.toString()));
    singles.add(one);
    return one.uri();
  }

  /** Returns what TLS needs; null without TLS. */
  @Nullable
  SslOptions tls() {
    return singles.get(0).tls();
  }

  /** Checks what an application says without an address. */
  static void require(Duration maxLease, int nodes) {
    if (nodes < FEWEST || nodes % 2 == 0 || nodes > MOST) {
      throw new IllegalArgumentException(
          "Redlock needs an odd number of nodes, 3 or more, not " + nodes);
    }
    if (maxLease.compareTo(SHORTEST_MAX_LEASE) < 0 || maxLease.compareTo(LONGEST_MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "the longest lease is 1 s to 366 days, not " + DurationText.exact(maxLease));
    }
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
