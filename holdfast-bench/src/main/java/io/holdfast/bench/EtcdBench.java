// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.etcd.EtcdServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** One etcd server that keeps all on disk: beside jetcd's lock, and beside the plainest transaction and deletion. */
final class EtcdBench {
  private static final int THREADS = 16;
  private static final List<String> LOCKS = List.of(Peers.US, EtcdPeers.JETCD);

  private final Scale scale;
  private final String uri;

  private EtcdBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !ServerProcess.isThere("etcd")) {
      System.out.println("etcd: not measured, the server was not found (dev/servers brings one)");
      return List.of();
    }
    try (EtcdServer server = EtcdServer.with()) {
      return new EtcdBench(scale, server.uri()).all();
    }
  }

  private List<Row> all() throws Exception {
    List<Row> rows = new ArrayList<>();
    try (Peers peers = Peers.of(uri)) {
      rows.add(uncontended(peers));
      rows.add(oneLock(peers));
    }
    try (Processes processes = new Processes(scale, uri, LOCKS)) {
      rows.addAll(contention(processes));
      rows.add(handOver(processes));
    }
    return rows;
  }

  private Row uncontended(Peers peers) throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale,
        peers,
        List.of(EtcdPeers.PLAIN, Peers.US, EtcdPeers.JETCD),
        peer -> Compared.alone(scale, peer));
    return Compared.row(
        "etcd: acquire and release, uncontended, against one transaction and one deletion",
        "etcd：无争用的获取与释放，对比一个事务加一次删除",
        rates,
        EtcdPeers.PLAIN,
        0.95);
  }

  private Row oneLock(Peers peers) throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale.warm(), peers, LOCKS, peer -> Compared.contention(scale, peer, THREADS, "one"));
    return Compared.row(
        "etcd: " + THREADS + " threads, one lock, against jetcd's",
        "etcd：" + THREADS + " 个线程，一把锁，对比 jetcd",
        rates,
        EtcdPeers.JETCD,
        100);
  }

  private static List<Row> contention(Processes processes) throws Exception {
    Map<String, Processes.Result> results = processes.contend(() -> new long[0]);
    Processes.Result ours = Objects.requireNonNull(results.get(Peers.US));
    Processes.Result jetcd = Objects.requireNonNull(results.get(EtcdPeers.JETCD));
    double ratio = ours.rates().median() / jetcd.rates().median();
    double even = ours.leastToMost();
    String what = "etcd: " + Processes.PROCESSES + " processes of " + Processes.THREADS
        + " threads, one lock";
    String chinese = "etcd：" + Processes.PROCESSES + " 个进程，各 " + Processes.THREADS + " 个线程，一把锁";
    return List.of(
        Row.now(
            what + ", against jetcd's",
            chinese + "，对比 jetcd",
            ours.text("") + "; jetcd " + jetcd.text(""),
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

  private static Row handOver(Processes processes) throws Exception {
    Map<String, Waits> passed = processes.swap(Processes.LONG_TURN);
    double ratio = Objects.requireNonNull(passed.get(Peers.US)).micros(0.5)
        / Objects.requireNonNull(passed.get(EtcdPeers.JETCD)).micros(0.5);
    return Row.now(
        "etcd: from a release in one process to the grant in another, against jetcd's",
        "etcd：从一个进程释放到另一个进程获得，对比 jetcd",
        Processes.text(passed),
        "<= 0.067",
        Row.text("%.3f", ratio),
        ratio <= 1.0 / 15);
  }
}
