// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Redis servers that keep nothing on disk, and count what they are asked. */
public final class RedisServers implements AutoCloseable {
  private static final long MAX_LEASE_SECONDS = 60;

  private final List<ServerProcess> processes = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();
  private final List<RedisCommandCount> counts = new ArrayList<>();

  private RedisServers() {}

  /** Whether there is a program for them. */
  public static boolean areThere() {
    return ServerProcess.isThere("redis-server");
  }

  /** Starts so many, and waits until they answer. */
  public static RedisServers start(int number) {
    RedisServers servers = new RedisServers();
    for (int i = 0; i < number; i++) {
      servers.add();
    }
    return servers;
  }

  private void add() {
    int port = ServerProcess.freePort();
    ServerProcess process = ServerProcess.of("redis-server");
    processes.add(process);
    process.start(List.of(
        "--port", Integer.toString(port),
        "--bind", "127.0.0.1",
        "--dir", process.folder().toString(),
        "--save", "",
        "--appendonly", "no"));
    process.awaitAnswer(() -> answers(port));
    ports.add(port);
    counts.add(new RedisCommandCount(uri(port)));
  }

  private static boolean answers(int port) {
    try {
      new RedisCommandCount(uri(port)).close();
      return true;
    } catch (RedisException e) {
      // not yet
      return false;
    }
  }

  private static String uri(int port) {
    return "redis://127.0.0.1:" + port;
  }

  /** The address of the first. */
  public String uri() {
    return uri(ports.get(0));
  }

  /** The address of all of them as nodes of Redlock, which may vote at once, although they are new. */
  public String redlockUri() {
    ports.forEach(RedisServers::mayVote);
    return "redlock://"
        + ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","))
        + "?holdfast.max-lease=" + MAX_LEASE_SECONDS + "s";
  }

  /** The port of the first. */
  int port() {
    return ports.get(0);
  }

  /** The addresses of all of them. */
  List<String> uris() {
    return ports.stream().map(RedisServers::uri).toList();
  }

  /** Leaves the mark that a node makes when it has abstained for as long as it must. */
  private static void mayVote(int port) {
    RedisClient client = RedisClient.create(uri(port));
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisCommands<String, String> redis = connection.sync();
      String identity = found("run_id:(\\w+)", redis.info("server")) + "-"
          + found("evicted_keys:(\\d+)", redis.info("stats"));
      long maxLeaseMicros = MAX_LEASE_SECONDS * 1_000_000;
      redis.hset(
          "holdfast:{}:m",
          Map.of("v", "R1", "id", identity, "m", Long.toString(maxLeaseMicros), "b", "0"));
    } finally {
      client.shutdown();
    }
  }

  private static String found(String pattern, String text) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) {
      throw new IllegalStateException("no " + pattern + " in " + text);
    }
    return found.group(1);
  }

  /** Returns what all of them together were asked since they were started. */
  public Map<String, Long> now() {
    long scripts = 0;
    long commands = 0;
    for (RedisCommandCount each : counts) {
      RedisCommandCount.Calls calls = each.now();
      scripts += calls.scripts();
      commands += calls.all();
    }
    Map<String, Long> now = new LinkedHashMap<>();
    now.put("scripts", scripts);
    now.put("commands", commands);
    return now;
  }

  @Override
  public void close() {
    counts.forEach(RedisCommandCount::close);
    processes.forEach(ServerProcess::close);
  }
}
