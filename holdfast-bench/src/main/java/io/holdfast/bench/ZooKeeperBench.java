// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One ZooKeeper server that keeps all on disk: beside Curator's locks and Spring's, and beside the plainest creation
 * and deletion.
 */
final class ZooKeeperBench {
  private static final String STORE = "ZooKeeper";
  private static final List<String> LOCKS = List.of(
      Peers.US, ZooKeeperPeers.CURATOR, ZooKeeperPeers.CURATOR_SEMAPHORE, ZooKeeperPeers.SPRING);

  private static final List<String> GROWING = List.of(Peers.US, ZooKeeperPeers.CURATOR);
  private static final List<String> ALL =
      Stream.concat(Stream.of(Peers.FLOOR), LOCKS.stream()).toList();

  private final Scale scale;
  private final String uri;

  private ZooKeeperBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      about.accept(server.version() + ", all on disk");
      return new ZooKeeperBench(scale, "zookeeper://" + server.address()).all();
    }
  }

  private List<Row> all() throws Exception {
    List<Row> rows = new ArrayList<>();
    try (Peers peers = Peers.of(uri)) {
      rows.add(Row.now(STORE, Workload.UNCONTENDED, Compared.alone(scale, peers, ALL))
          .atLeast(Peers.FLOOR, 0.95));
      rows.add(Row.now(
          STORE,
          Workload.SEPARATE,
          Compared.contention(scale.warm(), peers, ALL, Compared.THREADS, "separate:%d")));
      rows.add(Row.now(
              STORE,
              Workload.SHARED,
              Compared.contention(scale.warm(), peers, LOCKS, Compared.THREADS, "one"))
          .atLeast(ZooKeeperPeers.CURATOR, 20));
      rows.addAll(Growth.byLocks(STORE, scale, peers, GROWING));
    }
    try (Processes processes = new Processes(scale, uri, LOCKS)) {
      rows.add(Row.now(STORE, Workload.PROCESSES, processes.contend(Processes.Counted.NOTHING))
          .atLeast(ZooKeeperPeers.CURATOR, 5)
          .even());
      rows.addAll(Growth.byWaiters(STORE, scale, processes, GROWING));
      rows.add(Row.now(STORE, Workload.HAND_OVER, processes.swap(Processes.LONG_TURN))
          .atMost(ZooKeeperPeers.CURATOR, 0.7));
      for (int holds : scale.storeHolds()) {
        rows.addAll(Keeping.rows(
            STORE, holds, scale.keep(), processes, GROWING, Processes.Counted.NOTHING));
      }
    }
    return rows;
  }
}
