// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** SQL servers that commit durably: beside others, and beside the plainest pair of updates. */
final class SqlBench {
  private static final int THREADS = 16;

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
  static List<Row> run(Scale scale, SqlKind kind) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !kind.isThere()) {
      System.out.println(
          kind + ": not measured, the server was not found (dev/servers brings one)");
      return List.of();
    }
    try (SqlServer server = kind.start()) {
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
      rows.add(oneLock(peers));
    }
    List<String> waiting = List.of(Peers.US, SqlPeers.SPRING);
    try (Processes processes = new Processes(scale, uri(), waiting)) {
      rows.addAll(contention(processes));
      rows.add(handOver(processes));
    }
    rows.add(new IdleWaiters(scale, uri(), name, server, kind).row());
    return rows;
  }

  private Row uncontended(Peers peers) throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale,
        peers,
        List.of(SqlPeers.PLAIN, Peers.US, SqlPeers.STORE, SqlPeers.SPRING, SqlPeers.SHEDLOCK),
        peer -> Compared.alone(scale, peer));
    return Compared.row(
        name + ": acquire and release, uncontended, against two plain updates",
        name + "：无争用的获取与释放，对比两条普通更新语句",
        rates,
        SqlPeers.PLAIN,
        0.9);
  }

  private Row oneLock(Peers peers) throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale.warm(),
        peers,
        List.of(Peers.US, SqlPeers.SPRING),
        peer -> Compared.contention(scale, peer, THREADS, "one"));
    return Compared.row(
        name + ": " + THREADS + " threads, one lock, against Spring",
        name + "：" + THREADS + " 个线程，一把锁，对比 Spring",
        rates,
        SqlPeers.SPRING,
        20);
  }

  private List<Row> contention(Processes processes) throws Exception {
    Map<String, Processes.Result> results = processes.contend(() -> new long[0]);
    Processes.Result ours = Objects.requireNonNull(results.get(Peers.US));
    Processes.Result spring = Objects.requireNonNull(results.get(SqlPeers.SPRING));
    double ratio = ours.rates().median() / spring.rates().median();
    double even = ours.leastToMost();
    String what = name + ": " + Processes.PROCESSES + " processes of " + Processes.THREADS
        + " threads, one lock";
    String chinese = name + "：" + Processes.PROCESSES + " 个进程，各 " + Processes.THREADS + " 个线程，一把锁";
    return List.of(
        Row.now(
            what + ", against Spring",
            chinese + "，对比 Spring",
            ours.text("") + "; Spring " + spring.text(""),
            ">= 5 x",
            Row.text("%.2f", ratio),
            ratio >= 5 && ours.violations == 0),
        Row.now(
            what + ", acquisitions of a process, least to most",
            chinese + "，各进程获取次数，最少比最多",
            "as above",
            ">= 0.50",
            Row.text("%.2f", even),
            even >= 0.5));
  }

  private Row handOver(Processes processes) throws Exception {
    Map<String, Waits> passed = processes.swap(Processes.SHORT_TURN);
    double ours = Objects.requireNonNull(passed.get(Peers.US)).micros(0.5) / 1e3;
    double spring = Objects.requireNonNull(passed.get(SqlPeers.SPRING)).micros(0.5) / 1e3;
    boolean pushed = kind == SqlKind.POSTGRESQL;
    double value = pushed ? ours : ours / spring;
    return Row.now(
        name + ": from a release in one process to the grant in another",
        name + "：从一个进程释放到另一个进程获得",
        Processes.text(passed),
        pushed ? "<= 1.5 ms" : "<= 0.20 of Spring's",
        Row.text("%.2f", value),
        value <= (pushed ? 1.5 : 0.2));
  }
}
