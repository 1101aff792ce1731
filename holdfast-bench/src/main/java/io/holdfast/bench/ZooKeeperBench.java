// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.util.List;
import java.util.function.Consumer;

/**
 * One ZooKeeper server that keeps all on disk: beside Curator's locks and Spring's, and beside the plainest creation
 * and deletion.
 */
final class ZooKeeperBench {
  private static final Contenders WHO = Contenders.of(List.of(
          Peers.US,
          ZooKeeperPeers.CURATOR,
          ZooKeeperPeers.CURATOR_SEMAPHORE,
          ZooKeeperPeers.SPRING))
      .growing(List.of(Peers.US, ZooKeeperPeers.CURATOR));

  private ZooKeeperBench() {}

  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      about.accept(server.version() + ", all on disk");
      StoreRows rows = new StoreRows("ZooKeeper", scale, WHO)
          .bars(Workload.UNCONTENDED, row -> row.atLeast(Peers.FLOOR, 0.95))
          .bars(Workload.SHARED, row -> row.atLeast(ZooKeeperPeers.CURATOR, 20))
          .bars(
              Workload.PROCESSES, row -> row.atLeast(ZooKeeperPeers.CURATOR, 5).even())
          .bars(Workload.HAND_OVER, row -> row.atMost(ZooKeeperPeers.CURATOR, 0.7));
      rows.measure(
          "zookeeper://" + server.address(), Processes.LONG_TURN, Processes.Counted.NOTHING);
      return rows.all();
    }
  }
}
