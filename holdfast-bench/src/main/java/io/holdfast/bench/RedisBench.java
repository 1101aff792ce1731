// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Loop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** One Redis server that keeps nothing on disk: beside others, and beside the plainest pair of commands. */
final class RedisBench {
  /** So many cycles for what is counted and not timed. */
  private static final int COUNTED = 100;

  private static final int REDLOCK_NODES = 3;

  static final List<String> LOCKS = List.of(
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

  private static final Contenders WHO = new Contenders(ALL, ALL, LOCKS, GROWING, GROWING);

  private final Peers peers;
  private final RedisCommandCount commands;

  private RedisBench(int port) {
    peers = new RedisPeers(Integer.toString(port));
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    if (!Wanted.isMeasured("Redis", RedisServers.areThere())) {
      return List.of();
    }
    try (RedisServers server = RedisServers.start(1)) {
      int port = server.port();
      RedisBench bench = new RedisBench(port);
      about.accept("Redis " + bench.commands.version() + ", nothing on disk");
      StoreRows rows = new StoreRows("Redis", scale, WHO)
          .bars(Workload.UNCONTENDED, row -> row.atLeast(Peers.FLOOR, 0.95))
          .bars(Workload.COMMANDS, RedisBench::fewScripts)
          .bars(Workload.SEPARATE, row -> row.atLeast(Peers.FLOOR, 0.9))
          .bars(Workload.SHARED, row -> row.atLeast(RedisPeers.REDISSON, 20))
          .bars(Workload.PROCESSES, RedisProcessesBench::faster)
          .bars(Workload.HAND_OVER, row -> row.atMost(RedisPeers.REDISSON, 0.5));
      bench.measure(rows);
      try (RedisProcessesBench processes = new RedisProcessesBench(scale, port)) {
        processes.measure(rows);
      }
      List<Row> all = new ArrayList<>(rows.all());
      all.addAll(redlock(scale, about));
      return all;
    }
  }

  /** One thread alone: the price of a majority. */
  private static List<Row> redlock(Scale scale, Consumer<String> about) throws Exception {
    try (RedisServers nodes = RedisServers.start(REDLOCK_NODES);
        Peers peers = new RedlockPeers(nodes)) {
      about.accept("Redlock: " + REDLOCK_NODES
          + " of them; the floor is the same pair at all of them at once");
      StoreRows rows = new StoreRows("Redlock", scale, Contenders.of(List.of(Peers.US)));
      rows.alone(peers);
      return rows.all();
    }
  }

  private void measure(StoreRows rows) throws Exception {
    try (peers;
        commands) {
      rows.alone(peers);
      rows.add(Workload.COMMANDS, commandsPerCycle());
      rows.separate(peers);
      rows.shared(peers);
      rows.byLocks(peers);
    }
  }

  private List<Figure> commandsPerCycle() throws Exception {
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
    return figures;
  }

  private static Row fewScripts(Row row) {
    double scripts = row.ours().beside("scripts");
    return row.with(new Bar("scripts", "<= 2", Text.number(scripts), scripts <= 2));
  }
}
