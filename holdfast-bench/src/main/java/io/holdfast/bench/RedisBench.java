// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Loop;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.lettuce.core.RedisException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** One Redis server that keeps nothing on disk: beside others, and beside the plainest pair of commands. */
final class RedisBench {
  static final String STORE = "Redis";

  /** So many cycles for what is counted and not timed. */
  private static final int COUNTED = 100;

  private static final List<String> LOCKS = List.of(
      Peers.US,
      RedisPeers.REDISSON,
      RedisPeers.FAIR,
      RedisPeers.FENCED,
      RedisPeers.SPIN,
      RedisPeers.SPRING,
      RedisPeers.SPRING_SPIN);

  private static final List<String> GROWING = List.of(Peers.US, RedisPeers.REDISSON);

  /** Those, and who has a cycle of two commands and is no lock. */
  private static final List<String> ALL =
      Stream.concat(Stream.of(Peers.FLOOR, RedisPeers.SCRIPTS), LOCKS.stream()).toList();

  private final Scale scale;
  private final Peers peers;
  private final RedisCommandCount commands;

  private RedisBench(Scale scale, int port) {
    this.scale = scale;
    peers = new RedisPeers(Integer.toString(port));
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
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
      RedisBench bench = new RedisBench(scale, port);
      about.accept("Redis " + bench.commands.version() + ", nothing on disk");
      List<Row> rows = new ArrayList<>(bench.oneProcess());
      try (RedisProcessesBench processes = new RedisProcessesBench(scale, port)) {
        rows.add(processes.contention());
        rows.add(processes.handOver());
        rows.addAll(processes.growth(GROWING));
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
      List<Row> rows =
          new ArrayList<>(List.of(uncontended(), commandsPerCycle(), separateLocks(), oneLock()));
      rows.addAll(Growth.byLocks(STORE, scale, peers, GROWING));
      return rows;
    }
  }

  private Row uncontended() throws Exception {
    return Row.now(STORE, Workload.UNCONTENDED, Compared.alone(scale, peers, ALL))
        .atLeast(Peers.FLOOR, 0.95);
  }

  private Row commandsPerCycle() throws Exception {
    List<Figure> figures = new ArrayList<>();
    for (String name : ALL) {
      Loop.Cycle cycle = peers.get(name).cycle("counted");
      // the first one may bring the script along
      cycle.run();
      RedisCommandCount.Calls before = commands.now();
      for (int i = 0; i < COUNTED; i++) {
        cycle.run();
      }
      RedisCommandCount.Calls calls = commands.now().since(before);
      figures.add(Figure.of(name, calls.all() / (double) COUNTED)
          .with("scripts", calls.scripts() / (double) COUNTED));
    }
    Row row = Row.now(STORE, Workload.COMMANDS, figures);
    double scripts = row.ours().beside("scripts");
    return row.with(new Bar("scripts", "脚本", "<= 2", Text.number(scripts), scripts <= 2));
  }

  private Row separateLocks() throws Exception {
    return Row.now(
            STORE,
            Workload.SEPARATE,
            Compared.contention(scale.warm(), peers, ALL, Compared.THREADS, "separate:%d"))
        .atLeast(Peers.FLOOR, 0.9);
  }

  private Row oneLock() throws Exception {
    return Row.now(
            STORE,
            Workload.SHARED,
            Compared.contention(scale.warm(), peers, LOCKS, Compared.THREADS, "one"))
        .atLeast(RedisPeers.REDISSON, 20);
  }
}
