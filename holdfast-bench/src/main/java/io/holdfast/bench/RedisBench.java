// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.RedisException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One Redis server that keeps nothing on disk: beside others, and beside the plainest pair of commands. */
final class RedisBench {
  private static final int THREADS = 16;

  /** So many cycles for what is counted and not timed. */
  private static final int COUNTED = 100;

  private static final List<String> LOCKS =
      List.of(Peers.US, RedisPeers.REDISSON, RedisPeers.FAIR, RedisPeers.FENCED, RedisPeers.SPRING);

  /** Those, and who has a cycle of two commands and is no lock. */
  private static final List<String> ALL = Stream.concat(
          Stream.of(RedisPeers.PLAIN, RedisPeers.SCRIPTS), LOCKS.stream())
      .toList();

  private final Scale scale;
  private final Peers peers;
  private final RedisCommandCount commands;

  private RedisBench(Scale scale, int port) {
    this.scale = scale;
    peers = new RedisPeers(Integer.toString(port));
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !ServerProcess.isThere("redis-server")) {
      System.out.println(
          "Redis: not measured, redis-server was not found (dev/servers brings one)");
      return List.of();
    }
    int port = ServerProcess.freePort();
    try (ServerProcess server = ServerProcess.of("redis-server")) {
      server.start(List.of(
          "--port",
          Integer.toString(port),
          "--bind",
          "127.0.0.1",
          "--save",
          "",
          "--appendonly",
          "no",
          "--dir",
          server.folder().toString()));
      Await.until("redis-server answers", () -> answers(port));
      List<Row> rows = new ArrayList<>(new RedisBench(scale, port).oneProcess());
      try (RedisProcessesBench processes = new RedisProcessesBench(scale, port)) {
        rows.addAll(processes.contention());
        rows.add(processes.handOver());
        for (int holds : scale.redisHolds()) {
          rows.addAll(processes.keeping(holds));
        }
      }
      return rows;
    }
  }

  private static boolean answers(int port) {
    try {
      new PlainRedis("redis://127.0.0.1:" + port).close();
      return true;
    } catch (RedisException e) {
      // not yet
      return false;
    }
  }

  private List<Row> oneProcess() throws Exception {
    try (peers;
        commands) {
      return List.of(uncontended(), commandsPerCycle(), separateLocks(), oneLock());
    }
  }

  private Row uncontended() throws Exception {
    Map<String, Samples> rates =
        Compared.measure(scale, peers, ALL, peer -> Compared.alone(scale, peer));
    return Compared.row(
        "Redis: acquire and release, uncontended, against SET NX PX and a script that deletes",
        "Redis：无争用的获取与释放，对比 SET NX PX 加删除脚本",
        rates,
        RedisPeers.PLAIN,
        0.95);
  }

  private Row commandsPerCycle() throws Exception {
    Map<String, RedisCommandCount.Calls> calls = new LinkedHashMap<>();
    for (String name : ALL) {
      Loop.Cycle cycle = peers.get(name).cycle("counted");
      // the first one may bring the script along
      cycle.run();
      RedisCommandCount.Calls before = commands.now();
      for (int i = 0; i < COUNTED; i++) {
        cycle.run();
      }
      calls.put(name, commands.now().since(before));
    }
    RedisCommandCount.Calls ours = Objects.requireNonNull(calls.get(Peers.US));
    String others = calls.entrySet().stream()
        .filter(each -> !each.getKey().equals(Peers.US))
        .map(each -> each.getKey() + " " + each.getValue().per(COUNTED))
        .collect(Collectors.joining("; "));
    double scripts = ours.scripts() / (double) COUNTED;
    return Row.now(
        "Redis: commands a cycle, uncontended, those within scripts counted as well",
        "Redis：每个周期的命令数，无争用，脚本内的也计入",
        ours.per(COUNTED) + "; " + others,
        "2 scripts",
        Row.text("%.1f", scripts),
        scripts <= 2);
  }

  private Row separateLocks() throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale.warm(), peers, ALL, peer -> Compared.contention(scale, peer, THREADS, "separate:%d"));
    return Compared.row(
        "Redis: " + THREADS + " threads, " + THREADS + " locks, against the same pair",
        "Redis：" + THREADS + " 个线程，" + THREADS + " 把锁，对比同样的一对命令",
        rates,
        RedisPeers.PLAIN,
        0.9);
  }

  private Row oneLock() throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale.warm(), peers, LOCKS, peer -> Compared.contention(scale, peer, THREADS, "one"));
    return Compared.row(
        "Redis: " + THREADS + " threads, one lock, against Redisson",
        "Redis：" + THREADS + " 个线程，一把锁，对比 Redisson",
        rates,
        RedisPeers.REDISSON,
        20);
  }
}
