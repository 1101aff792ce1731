// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.util.List;
import java.util.function.Consumer;

/** SQL servers that commit durably: beside others, and beside the plainest pair of updates. */
final class SqlBench {
  private static final List<String> LOCKS = List.of(Peers.US, SqlPeers.SPRING);
  private static final Contenders WHO = new Contenders(
      List.of(Peers.FLOOR, Peers.US, SqlPeers.STORE, SqlPeers.SPRING, SqlPeers.SHEDLOCK),
      List.of(Peers.FLOOR, Peers.US, SqlPeers.SPRING),
      LOCKS,
      LOCKS,
      List.of(Peers.US));

  /** Milliseconds, where the server tells who waits. */
  private static final double MOST_PUSHED = 1.5;

  private SqlBench() {}

  /** Returns nothing, and says so, for a server that is not there and not required. */
  static List<Row> run(Scale scale, SqlKind kind, Consumer<String> about) throws Exception {
    if (!Wanted.isMeasured(kind.toString(), kind.isThere())) {
      return List.of();
    }
    try (SqlServer server = kind.start()) {
      about.accept(server.version() + ", each commit on disk");
      String name = name(kind);
      String uri = uri(kind, server);
      IdleWaiters idle = new IdleWaiters(scale, uri, server, kind);
      StoreRows rows = new StoreRows(name, scale, WHO)
          .bars(Workload.UNCONTENDED, row -> row.atLeast(Peers.FLOOR, 0.9))
          .bars(Workload.SHARED, row -> row.atLeast(SqlPeers.SPRING, 20))
          .bars(Workload.PROCESSES, row -> row.atLeast(SqlPeers.SPRING, 5).even())
          .bars(Workload.HAND_OVER, row -> handOver(kind, row))
          .bars(Workload.IDLE, row -> row.atMost(SqlPeers.SPRING, 0.1));
      rows.measure(uri, Processes.SHORT_TURN, idle::counted);
      rows.add(Workload.IDLE, idle.figures());
      return rows.all();
    }
  }

  private static String name(SqlKind kind) {
    return switch (kind) {
      case POSTGRESQL -> "PostgreSQL";
      case MARIADB -> "MariaDB";
      case MYSQL -> "MySQL";
    };
  }

  private static String uri(SqlKind kind, SqlServer server) {
    // one driver for both, which all contenders share
    String uri = server.storeUri();
    return kind == SqlKind.MYSQL
        ? "jdbc:mariadb:" + uri.substring("jdbc:mysql:".length()) + "&sslMode=disable"
        : uri;
  }

  private static Row handOver(SqlKind kind, Row row) {
    if (kind != SqlKind.POSTGRESQL) {
      return row.atMost(SqlPeers.SPRING, 0.2);
    }
    double millis = row.ours().median();
    return row.with(new Bar(
        "the median",
        Text.of("<= %.1f ms", MOST_PUSHED),
        Text.of("%.2f ms", millis),
        millis <= MOST_PUSHED));
  }
}
