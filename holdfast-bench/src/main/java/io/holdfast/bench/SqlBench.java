// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** SQL servers that commit durably: beside others, and beside the plainest pair of updates. */
final class SqlBench {
  private static final List<String> LOCKS = List.of(Peers.US, SqlPeers.SPRING);

  /** Milliseconds, where the server tells who waits. */
  private static final double MOST_PUSHED = 1.5;

  private final Scale scale;
  private final SqlKind kind;
  private final String name;
  private final SqlServer server;

  private SqlBench(Scale scale, SqlKind kind, SqlServer server) {
    this.scale = scale;
    this.kind = kind;
    this.server = server;
    this.name = switch (kind) {
      case POSTGRESQL -> "PostgreSQL";
      case MARIADB -> "MariaDB";
      case MYSQL -> "MySQL";
    };
  }

  /** Returns nothing, and says so, for a server that is not there and not required. */
  static List<Row> run(Scale scale, SqlKind kind, Consumer<String> about) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !kind.isThere()) {
      System.out.println(
          kind + ": not measured, the server was not found (dev/servers brings one)");
      return List.of();
    }
    try (SqlServer server = kind.start()) {
      about.accept(server.version() + ", each commit on disk");
      return new SqlBench(scale, kind, server).all();
    }
  }

  private String uri() {
    // one driver for both, which all contenders share
    String uri = server.storeUri();
    return kind == SqlKind.MYSQL
        ? "jdbc:mariadb:" + uri.substring("jdbc:mysql:".length()) + "&sslMode=disable"
        : uri;
  }

  private List<Row> all() throws Exception {
    List<Row> rows = new ArrayList<>();
    try (Peers peers = Peers.of(uri())) {
      rows.add(uncontended(peers));
      rows.add(Row.now(
          name,
          Workload.SEPARATE,
          Compared.contention(
              scale.warm(),
              peers,
              List.of(Peers.FLOOR, Peers.US, SqlPeers.SPRING),
              Compared.THREADS,
              "separate:%d")));
      rows.add(Row.now(
              name,
              Workload.SHARED,
              Compared.contention(scale.warm(), peers, LOCKS, Compared.THREADS, "one"))
          .atLeast(SqlPeers.SPRING, 20));
      rows.addAll(Growth.byLocks(name, scale, peers, LOCKS));
    }
    IdleWaiters idle = new IdleWaiters(scale, uri(), name, server, kind);
    try (Processes processes = new Processes(scale, uri(), LOCKS)) {
      rows.add(Row.now(name, Workload.PROCESSES, processes.contend(Processes.Counted.NOTHING))
          .atLeast(SqlPeers.SPRING, 5)
          .even());
      rows.addAll(Growth.byWaiters(name, scale, processes, LOCKS));
      rows.add(handOver(processes));
      for (int holds : scale.storeHolds()) {
        rows.addAll(
            Keeping.rows(name, holds, scale.keep(), processes, List.of(Peers.US), idle::counted));
      }
    }
    rows.add(idle.row());
    return rows;
  }

  private Row uncontended(Peers peers) throws Exception {
    List<String> all =
        List.of(Peers.FLOOR, Peers.US, SqlPeers.STORE, SqlPeers.SPRING, SqlPeers.SHEDLOCK);
    return Row.now(name, Workload.UNCONTENDED, Compared.alone(scale, peers, all))
        .atLeast(Peers.FLOOR, 0.9);
  }

  private Row handOver(Processes processes) throws Exception {
    Row row = Row.now(name, Workload.HAND_OVER, processes.swap(Processes.SHORT_TURN));
    if (kind != SqlKind.POSTGRESQL) {
      return row.atMost(SqlPeers.SPRING, 0.2);
    }
    double millis = row.ours().median();
    return row.with(new Bar(
        "the median",
        "中位数",
        Text.of("<= %.1f ms", MOST_PUSHED),
        Text.of("%.2f ms", millis),
        millis <= MOST_PUSHED));
  }
}
