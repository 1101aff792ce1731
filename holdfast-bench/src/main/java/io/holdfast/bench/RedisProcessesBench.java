// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Several processes on one Redis server: what they get through, and how long a lock is on its way between them. */
final class RedisProcessesBench implements AutoCloseable {
  private static final List<String> PEERS = List.of(
      Peers.US,
      RedisPeers.REDISSON,
      RedisPeers.FAIR,
      RedisPeers.FENCED,
      RedisPeers.SPIN,
      RedisPeers.SPRING,
      RedisPeers.SPRING_SPIN,
      RedisPeers.TOKEN);
  private static final List<String> KEEPERS = List.of(Peers.US, RedisPeers.REDISSON);

  private final Scale scale;
  private final RedisCommandCount commands;
  private final Processes processes;

  RedisProcessesBench(Scale scale, int port) throws IOException {
    this.scale = scale;
    processes = new Processes(scale, Integer.toString(port), PEERS);
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
  }

  Row contention() throws IOException {
    Row row = Row.now(RedisBench.STORE, Workload.PROCESSES, processes.contend(() -> {
          RedisCommandCount.Calls now = commands.now();
          return Map.of("commands", now.all(), "scripts", now.scripts());
        }))
        .atLeast(RedisPeers.REDISSON, 5)
        .atLeast(RedisPeers.TOKEN, 1)
        .even();
    double p99 = row.ours().beside("p99 ms") / row.figure(RedisPeers.REDISSON).beside("p99 ms");
    return row.with(Bar.atMost(p99, RedisPeers.REDISSON + ", p99 of the waits", 0.25));
  }

  Row handOver() throws IOException {
    return Row.now(RedisBench.STORE, Workload.HAND_OVER, processes.pass())
        .atMost(RedisPeers.REDISSON, 0.5);
  }

  /** Each contender in a process of its own, which has nothing else to do. */
  List<Row> keeping(int holds) throws IOException {
    Duration time =
        scale.keep().compareTo(Duration.ofMinutes(1)) > 0 ? Duration.ofMinutes(1) : scale.keep();
    double seconds = time.toMillis() / 1e3;
    List<Figure> cpu = new ArrayList<>();
    List<Figure> heap = new ArrayList<>();
    for (String peer : KEEPERS) {
      RedisCommandCount.Calls before = commands.now();
      Processes.Kept kept = processes.keep(peer, holds, time);
      RedisCommandCount.Calls calls = commands.now().since(before);
      cpu.add(Figure.of(peer, kept.cpuSeconds())
          .with("s of it kept", seconds)
          .with("commands a lock, with its acquisition", calls.all() / (double) holds)
          .with("scripts a lock", calls.scripts() / (double) holds)
          .with(Figure.LOST, kept.lost()));
      heap.add(Figure.of(peer, kept.bytes()));
    }
    long lost = (long) cpu.get(0).beside(Figure.LOST);
    return List.of(
        Row.now(RedisBench.STORE, Workload.KEPT_CPU, holds, cpu)
            .atMost(RedisPeers.REDISSON, 1)
            .with(new Bar("lost", "丢失", "0", Long.toString(lost), lost == 0)),
        Row.now(RedisBench.STORE, Workload.KEPT_HEAP, holds, heap).atMost(RedisPeers.REDISSON, 1));
  }

  @Override
  public void close() {
    processes.close();
    commands.close();
  }
}
