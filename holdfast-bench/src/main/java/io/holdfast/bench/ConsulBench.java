// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Samples;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.List;
import java.util.function.Consumer;

/**
 * One Consul server that keeps all on disk: beside the plainest two transactions, and beside one blocking query's answer.
 * There is no other lock of Java's to compare with.
 */
final class ConsulBench {
  private static final Contenders WHO = Contenders.of(List.of(Peers.US));

  private final Scale scale;
  private final String uri;

  private ConsulBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    if (!Wanted.isMeasured("consul", ServerProcess.isThere("consul"))) {
      return List.of();
    }
    try (ConsulServer server = ConsulServer.with()) {
      about.accept(server.version() + ", all on disk");
      return new ConsulBench(scale, server.uri()).all();
    }
  }

  private List<Row> all() throws Exception {
    StoreRows rows = new StoreRows("Consul", scale, WHO)
        .bars(Workload.UNCONTENDED, row -> row.atLeast(Peers.FLOOR, 0.9))
        // both are counted from before the last request of the one that has the turn
        .bars(Workload.HAND_OVER, row -> row.atMost(ConsulPeers.QUERY, 1.5));
    try (Peers peers = Peers.of(uri)) {
      rows.bars(Workload.SHARED, row -> row.beside(floor(peers)))
          .bars(Workload.PROCESSES, row -> row.beside(floor(peers)).even());
      rows.alone(peers);
      rows.separate(peers);
      rows.shared(peers);
      try (Processes processes = new Processes(scale, uri, WHO.locks())) {
        rows.processes(processes, Processes.Counted.NOTHING);
        rows.byWaiters(processes);
      }
      rows.byLocks(peers);
    }
    try (Processes processes = new Processes(scale, uri, List.of(Peers.US, ConsulPeers.QUERY))) {
      rows.add(Workload.HAND_OVER, processes.swap(Processes.LONG_TURN));
      rows.keeping(processes, scale.storeHolds(), Processes.Counted.NOTHING);
    }
    return rows.all();
  }

  /** One thread's: threads that want one lock can do no better, unless it stays in the process. */
  private Figure floor(Peers peers) throws Exception {
    Samples floor = Trials.interleave(scale.warm(), Compared.alone(scale, peers.get(Peers.FLOOR)))
        .get(0);
    return Figure.of(Peers.FLOOR, floor).noting("one thread alone");
  }
}
