// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.List;
import java.util.function.Consumer;

/** One etcd server that keeps all on disk: beside jetcd's lock, and beside the plainest transaction and deletion. */
final class EtcdBench {
  private static final Contenders WHO = Contenders.of(List.of(Peers.US, EtcdPeers.JETCD));

  private EtcdBench() {}

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    if (!Wanted.isMeasured("etcd", ServerProcess.isThere("etcd"))) {
      return List.of();
    }
    try (EtcdServer server = EtcdServer.with()) {
      about.accept(server.version() + ", all on disk");
      StoreRows rows = new StoreRows("etcd", scale, WHO)
          .bars(Workload.UNCONTENDED, row -> row.atLeast(Peers.FLOOR, 0.95))
          .bars(Workload.SHARED, row -> row.atLeast(EtcdPeers.JETCD, 100))
          .bars(Workload.PROCESSES, row -> row.atLeast(EtcdPeers.JETCD, 5).even())
          .bars(Workload.HAND_OVER, row -> row.atMost(EtcdPeers.JETCD, 1.0 / 15));
      rows.measure(server.uri(), Processes.LONG_TURN, Processes.Counted.NOTHING);
      return rows.all();
    }
  }
}
