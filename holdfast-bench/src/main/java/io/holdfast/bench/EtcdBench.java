// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** One etcd server that keeps all on disk: beside jetcd's lock, and beside the plainest transaction and deletion. */
final class EtcdBench {
  private static final String STORE = "etcd";
  private static final List<String> LOCKS = List.of(Peers.US, EtcdPeers.JETCD);

  private static final List<String> ALL =
      Stream.concat(Stream.of(Peers.FLOOR), LOCKS.stream()).toList();

  private final Scale scale;
  private final String uri;

  private EtcdBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !ServerProcess.isThere("etcd")) {
      System.out.println("etcd: not measured, the server was not found (dev/servers brings one)");
      return List.of();
    }
    try (EtcdServer server = EtcdServer.with()) {
      about.accept(server.version() + ", all on disk");
      return new EtcdBench(scale, server.uri()).all();
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
          .atLeast(EtcdPeers.JETCD, 100));
      rows.addAll(Growth.byLocks(STORE, scale, peers, LOCKS));
    }
    try (Processes processes = new Processes(scale, uri, LOCKS)) {
      rows.add(Row.now(STORE, Workload.PROCESSES, processes.contend(Processes.Counted.NOTHING))
          .atLeast(EtcdPeers.JETCD, 5)
          .even());
      rows.addAll(Growth.byWaiters(STORE, scale, processes, LOCKS));
      rows.add(Row.now(STORE, Workload.HAND_OVER, processes.swap(Processes.LONG_TURN))
          .atMost(EtcdPeers.JETCD, 1.0 / 15));
      for (int holds : scale.storeHolds()) {
        rows.addAll(Keeping.rows(
            STORE, holds, scale.keep(), processes, List.of(Peers.US), Processes.Counted.NOTHING));
      }
    }
    return rows;
  }
}
