// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Samples;
import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * One Consul server that keeps all on disk: beside the plainest two transactions, and beside one blocking query's answer.
 * There is no other lock of Java's to compare with.
 */
final class ConsulBench {
  private static final String STORE = "Consul";
  private static final List<String> ALL = List.of(Peers.FLOOR, Peers.US);
  private static final List<String> US = List.of(Peers.US);

  private final Scale scale;
  private final String uri;

  private ConsulBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale, Consumer<String> about) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !ServerProcess.isThere("consul")) {
      System.out.println("consul: not measured, the server was not found (dev/servers brings one)");
      return List.of();
    }
    try (ConsulServer server = ConsulServer.with()) {
      about.accept(server.version() + ", all on disk");
      return new ConsulBench(scale, server.uri()).all();
    }
  }

  private List<Row> all() throws Exception {
    List<Row> rows = new ArrayList<>();
    try (Peers peers = Peers.of(uri)) {
      rows.add(Row.now(STORE, Workload.UNCONTENDED, Compared.alone(scale, peers, ALL))
          .atLeast(Peers.FLOOR, 0.9));
      rows.add(Row.now(
          STORE,
          Workload.SEPARATE,
          Compared.contention(scale.warm(), peers, ALL, Compared.THREADS, "separate:%d")));
      rows.add(Row.now(
          STORE,
          Workload.SHARED,
          withFloor(peers, Compared.contention(scale.warm(), peers, US, Compared.THREADS, "one"))));
      try (Processes processes = new Processes(scale, uri, US)) {
        rows.add(Row.now(
                STORE,
                Workload.PROCESSES,
                withFloor(peers, processes.contend(Processes.Counted.NOTHING)))
            .even());
        rows.addAll(Growth.byWaiters(STORE, scale, processes, US));
      }
      rows.addAll(Growth.byLocks(STORE, scale, peers, US));
    }
    try (Processes processes = new Processes(scale, uri, List.of(Peers.US, ConsulPeers.QUERY))) {
      // both are counted from before the last request of the one that has the turn
      rows.add(Row.now(STORE, Workload.HAND_OVER, processes.swap(Processes.LONG_TURN))
          .atMost(ConsulPeers.QUERY, 1.5));
      for (int holds : scale.storeHolds()) {
        rows.addAll(
            Keeping.rows(STORE, holds, scale.keep(), processes, US, Processes.Counted.NOTHING));
      }
    }
    return rows;
  }

  /** The floor is one thread's: threads that want one lock can do no better, unless it stays in the process. */
  private List<Figure> withFloor(Peers peers, List<Figure> figures) throws Exception {
    Samples floor = Trials.interleave(scale.warm(), Compared.alone(scale, peers.get(Peers.FLOOR)))
        .get(0);
    List<Figure> all = new ArrayList<>(figures);
    all.add(Figure.of(Peers.FLOOR, floor).noting("one thread alone"));
    return all;
  }
}
