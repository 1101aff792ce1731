// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
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
    Row row = Row.now(RedisBench.STORE, Workload.PROCESSES, processes.contend(this::counted))
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

  List<Row> growth(List<String> peers) throws IOException {
    return Growth.byWaiters(RedisBench.STORE, scale, processes, peers);
  }

  List<Row> keeping(int holds) throws IOException {
    return Keeping.rows(RedisBench.STORE, holds, scale.keep(), processes, KEEPERS, this::counted);
  }

  private Map<String, Long> counted() {
    RedisCommandCount.Calls now = commands.now();
    return Map.of("commands", now.all(), "scripts", now.scripts());
  }

  @Override
  public void close() {
    processes.close();
    commands.close();
  }
}
