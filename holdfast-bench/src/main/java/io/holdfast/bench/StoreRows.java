// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What is measured on every server: a group says who takes part, what ours has to reach, and what else it has. */
final class StoreRows {
  /** Puts bars on a row that was measured, or what they are compared with beside it. */
  @FunctionalInterface
  interface Bars {
    Row on(Row row) throws Exception;
  }

  private final String store;
  private final Scale scale;
  private final Contenders who;
  private final Map<Workload, Bars> bars = new EnumMap<>(Workload.class);
  private final List<Row> rows = new ArrayList<>();

  StoreRows(String store, Scale scale, Contenders who) {
    this.store = store;
    this.scale = scale;
    this.who = who;
  }

  /** Returns this, with bars for a row that is not measured yet. */
  StoreRows bars(Workload workload, Bars wanted) {
    bars.put(workload, wanted);
    return this;
  }

  /**
   * Measures all, in the usual order.
   *
   * @param turn how long a lock is held that processes hand over, in microseconds
   * @param counted while locks are kept
   */
  void measure(String uri, int turn, Processes.Counted counted) throws Exception {
    try (Peers peers = Peers.of(uri)) {
      alone(peers);
      separate(peers);
      shared(peers);
      byLocks(peers);
    }
    try (Processes processes = new Processes(scale, uri, who.locks())) {
      processes(processes, Processes.Counted.NOTHING);
      byWaiters(processes);
      add(Workload.HAND_OVER, processes.swap(turn));
      keeping(processes, scale.storeHolds(), counted);
    }
  }

  void alone(Peers peers) throws Exception {
    add(Workload.UNCONTENDED, Compared.alone(scale, peers, who.alone()));
  }

  void separate(Peers peers) throws Exception {
    add(Workload.SEPARATE, Compared.separate(scale.warm(), peers, who.separate()));
  }

  void shared(Peers peers) throws Exception {
    add(Workload.SHARED, Compared.shared(scale.warm(), peers, who.locks()));
  }

  void byLocks(Peers peers) throws Exception {
    rows.addAll(Growth.byLocks(store, scale, peers, who.growing()));
  }

  void processes(Processes processes, Processes.Counted counted) throws Exception {
    processes.warmUp();
    add(Workload.PROCESSES, processes.contend(counted));
  }

  void byWaiters(Processes processes) throws Exception {
    rows.addAll(Growth.byWaiters(store, scale, processes, who.growing()));
  }

  void keeping(Processes processes, List<Integer> sizes, Processes.Counted counted)
      throws Exception {
    for (int holds : sizes) {
      rows.addAll(Keeping.rows(store, holds, scale.keep(), processes, who.keeping(), counted));
    }
  }

  /** Adds a row, with its bars. */
  void add(Workload workload, List<Figure> figures) throws Exception {
    Row row = Row.now(store, workload, figures);
    Bars wanted = bars.get(workload);
    rows.add(wanted == null ? row : wanted.on(row));
  }

  /** Returns what was measured until now. */
  List<Row> all() {
    return List.copyOf(rows);
  }
}
