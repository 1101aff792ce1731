// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Several processes on one Redis server: what they get through, and how long a lock is on its way between them. */
final class RedisProcessesBench implements AutoCloseable {
  private static final List<String> PEERS =
      Stream.concat(RedisBench.LOCKS.stream(), Stream.of(RedisPeers.TOKEN)).toList();

  private final Scale scale;
  private final RedisCommandCount commands;
  private final Processes processes;

  RedisProcessesBench(Scale scale, int port) throws IOException {
    this.scale = scale;
    processes = new Processes(scale, Integer.toString(port), PEERS);
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
  }

  void measure(StoreRows rows) throws Exception {
    rows.processes(processes, this::counted);
    rows.add(Workload.HAND_OVER, processes.pass());
    rows.byWaiters(processes);
    rows.keeping(processes, scale.redisHolds(), this::counted);
  }

  /** What ours has to reach where several processes want one lock. */
  static Row faster(Row row) {
    double p99 = row.ours().beside("p99 ms") / row.figure(RedisPeers.REDISSON).beside("p99 ms");
    return row.atLeast(RedisPeers.REDISSON, 5)
        .atLeast(RedisPeers.TOKEN, 1)
        .even()
        .with(Bar.atMost(p99, RedisPeers.REDISSON + ", p99 of the waits", 0.25));
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
