// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.process.ServerProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The ways in which Redis is run; the servers are started when they are first needed, once for all tests of this JVM. */
@SuppressWarnings("ImmutableEnumChecker") // what is started once stays, and is guarded
enum RedisTopology {
  SINGLE("redis://", ""),
  SENTINEL("redis-sentinel://", "/primary"),
  CLUSTER("redis-cluster://", ""),
  REDLOCK("redlock://", "");

  private static final int NODES = 3;
  private static final int SLOTS = 16384;
  private static final String MARKER_MICROS = "60000000";

  private final String scheme;
  private final String path;
  private final List<RedisProcess> servers = new ArrayList<>();
  private final List<RedisProcess> addressed = new ArrayList<>();

  RedisTopology(String scheme, String path) {
    this.scheme = scheme;
    this.path = path;
  }

  /** Returns the address of the store; its parameters may follow. */
  synchronized String uri() {
    if (addressed.isEmpty()) {
      try {
        start();
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
    return scheme
        + addressed.stream().map(RedisProcess::address).collect(Collectors.joining(","))
        + path;
  }

  private void start() throws IOException {
    switch (this) {
      case SINGLE -> {
        servers.add(new RedisProcess());
        addressed.addAll(servers);
      }
      case SENTINEL -> {
        servers.add(new RedisProcess());
        addressed.add(RedisProcess.sentinelOf(servers.get(0), "primary"));
      }
      case CLUSTER -> startCluster();
      case REDLOCK -> {
        for (int i = 0; i < NODES; i++) {
          RedisProcess node = new RedisProcess();
          // as if it had served its time of abstention
          node.ask("HSET holdfast:{}:m v R1 id " + identity(node) + " m " + MARKER_MICROS + " b 0");
          servers.add(node);
        }
        addressed.addAll(servers);
      }
    }
  }

  private void startCluster() throws IOException {
    List<Integer> buses = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      buses.add(ServerProcess.freePort());
      servers.add(new RedisProcess(
          "--cluster-enabled", "yes", "--cluster-port", Integer.toString(buses.get(i))));
      int from = SLOTS * i / NODES;
      int to = SLOTS * (i + 1) / NODES - 1;
      servers.get(i).ask("CLUSTER ADDSLOTSRANGE " + from + " " + to);
    }
    for (int i = 1; i < NODES; i++) {
      servers.get(0).ask("CLUSTER MEET 127.0.0.1 " + servers.get(i).port() + " " + buses.get(i));
    }
    for (RedisProcess each : servers) {
      Await.until(
          "it knows all nodes",
          () -> each.ask("CLUSTER INFO").contains("cluster_state:ok")
              && each.ask("CLUSTER INFO").contains("cluster_size:" + NODES),
          each::log);
    }
    addressed.addAll(servers);
  }

  private static String identity(RedisProcess node) throws IOException {
    return found("run_id:(\\w+)", node.ask("INFO server")) + "-"
        + found("evicted_keys:(\\d+)", node.ask("INFO stats"));
  }

  private static String found(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    if (!matcher.find()) {
      throw new AssertionError(pattern + " is not in " + text);
    }
    return matcher.group(1);
  }
}
