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
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** One Redis server that keeps nothing on disk: beside others, and beside the plainest pair of commands. */
final class RedisBench {
  private static final int THREADS = 16;

  /** So many cycles for what is counted and not timed. */
  private static final int COUNTED = 100;

  private static final List<String> LOCKS = List.of(
      RedisPeers.US, RedisPeers.REDISSON, RedisPeers.FAIR, RedisPeers.FENCED, RedisPeers.SPRING);

  /** Those, and who has a cycle of two commands and is no lock. */
  private static final List<String> ALL = Stream.concat(
          Stream.of(RedisPeers.PLAIN, RedisPeers.SCRIPTS), LOCKS.stream())
      .toList();

  private final Scale scale;
  private final RedisPeers peers;
  private final RedisCommandCount commands;

  private RedisBench(Scale scale, int port) {
    this.scale = scale;
    peers = new RedisPeers(port);
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
    Map<String, Samples> rates = measure(scale, ALL, peer -> {
      Loop.Cycle cycle = peer.cycle("uncontended");
      return () -> Loop.perSecond(scale.trial(), 10, cycle);
    });
    return row(
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
    RedisCommandCount.Calls ours = Objects.requireNonNull(calls.get(RedisPeers.US));
    String others = calls.entrySet().stream()
        .filter(each -> !each.getKey().equals(RedisPeers.US))
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
    Map<String, Samples> rates =
        measure(scale.warm(), ALL, peer -> contention(peer, "separate:%d"));
    return row(
        "Redis: " + THREADS + " threads, " + THREADS + " locks, against the same pair",
        "Redis：" + THREADS + " 个线程，" + THREADS + " 把锁，对比同样的一对命令",
        rates,
        RedisPeers.PLAIN,
        0.9);
  }

  private Row oneLock() throws Exception {
    Map<String, Samples> rates = measure(scale.warm(), LOCKS, peer -> contention(peer, "one"));
    return row(
        "Redis: " + THREADS + " threads, one lock, against Redisson",
        "Redis：" + THREADS + " 个线程，一把锁，对比 Redisson",
        rates,
        RedisPeers.REDISSON,
        20);
  }

  private Trials.Contender contention(RedisPeer peer, String name) {
    Contention threads = new Contention(
        IntStream.range(0, THREADS).mapToObj(i -> peer.lock(Row.text(name, i))).toList());
    return () -> {
      double rate = threads.perSecond(scale.trial());
      if (!name.contains("%") && threads.violations() > 0) {
        throw new IllegalStateException(threads.violations() + " times two had the lock");
      }
      return rate;
    };
  }

  /** Measures some of them in turns. */
  private Map<String, Samples> measure(
      Scale trials, List<String> names, Function<RedisPeer, Trials.Contender> contender)
      throws Exception {
    List<Samples> rates = Trials.interleave(
        trials, names.stream().map(peers::get).map(contender).toArray(Trials.Contender[]::new));
    Map<String, Samples> byName = new LinkedHashMap<>();
    for (String name : names) {
      byName.put(name, rates.get(byName.size()));
    }
    return byName;
  }

  private static Row row(
      String name, String chinese, Map<String, Samples> rates, String beside, double bar) {
    Samples ours = Objects.requireNonNull(rates.get(RedisPeers.US));
    double ratio = ours.median() / Objects.requireNonNull(rates.get(beside)).median();
    String others = rates.entrySet().stream()
        .filter(each -> !each.getKey().equals(RedisPeers.US))
        .map(each -> each.getKey() + " " + Row.spread(each.getValue(), "/s"))
        .collect(Collectors.joining("; "));
    return Row.now(
        name,
        chinese,
        Row.spread(ours, "/s") + "; " + others,
        Row.text(bar < 1 ? ">= %.2f" : ">= %.0f x", bar),
        Row.text("%.2f", ratio),
        ratio >= bar);
  }
}
