// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What ZooKeeper has received, without the question for that, and how many transactions it has written. */
final class ZooKeeperCounter implements Counter {
  private static final Pattern RECEIVED = Pattern.compile("Received: (\\d+)");
  private static final Pattern WRITTEN = Pattern.compile("Zxid: 0x(\\p{XDigit}+)");

  private final ZooKeeperServer server;
  private long asked;

  ZooKeeperCounter(ZooKeeperServer server) {
    this.server = server;
  }

  @Override
  public Map<String, Long> now() {
    String said = server.ask("srvr");
    asked++;
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("packets", number(said, RECEIVED, 10) - asked);
    counts.put("transactions", number(said, WRITTEN, 16));
    return counts;
  }

  private static long number(String said, Pattern pattern, int radix) {
    Matcher found = pattern.matcher(said);
    if (!found.find()) {
      throw new IllegalStateException("no " + pattern + " in " + said);
    }
    return Long.parseLong(found.group(1), radix);
  }
}
