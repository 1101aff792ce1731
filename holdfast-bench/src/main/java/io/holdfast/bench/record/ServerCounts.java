// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.record;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.sql.SqlServer;
import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Counts what a server keeps for its clients, past any store. */
final class ServerCounts {
  private static final int ANSWER_MILLIS = 5_000;
  private static final Pattern COUNT = Pattern.compile("\"count\":\"(\\d+)\"");

  private ServerCounts() {}

  static Map<String, Long> sql(SqlServer server) {
    long rows = 0;
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      List<String> tables = new ArrayList<>();
      try (ResultSet names = statement.executeQuery(server.tables())) {
        while (names.next()) {
          tables.add(names.getString(1));
        }
      }
      for (String table : tables) {
        try (ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
          count.next();
          rows += count.getLong(1);
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the rows cannot be counted", e);
    }
    return Map.of("rows", rows);
  }

  static Map<String, Long> redis(int port) {
    return Map.of("keys", Long.parseLong(line(port, "DBSIZE").substring(1)));
  }

  /** Returns the first line that a Redis server answers. */
  static String line(int port, String command) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
      BufferedReader answer = new BufferedReader(
          new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      String line = answer.readLine();
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Map<String, Long> zooKeeper(ZooKeeperServer server) {
    String said = server.ask("mntr");
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("nodes", number(said, "zk_znode_count\\s+(\\d+)"));
    counts.put("watches", number(said, "zk_watch_count\\s+(\\d+)"));
    counts.put("connections", number(said, "zk_num_alive_connections\\s+(\\d+)"));
    return counts;
  }

  static Map<String, Long> etcd(EtcdServer server) {
    // all keys, and all leases
    String keys = server.call(
        "/v3/kv/range", "{\"key\":\"AA==\",\"range_end\":\"AA==\",\"count_only\":true}");
    String leases = server.call("/v3/lease/leases", "{}");
    Matcher count = COUNT.matcher(keys);
    return Map.of(
        "keys",
        count.find() ? Long.parseLong(count.group(1)) : 0,
        "leases",
        times(leases, "\"ID\""));
  }

  static Map<String, Long> consul(ConsulServer server) {
    return Map.of(
        "keys", times(server.call("GET", "/v1/kv/?recurse", ""), "\"Key\""),
        "sessions", times(server.call("GET", "/v1/session/list", ""), "\"ID\""));
  }

  private static long number(String text, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) {
      throw new IllegalStateException("no " + pattern + " in " + text);
    }
    return Long.parseLong(found.group(1));
  }

  private static long times(String text, String what) {
    return Pattern.compile(what, Pattern.LITERAL).matcher(text).results().count();
  }
}
