// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** One ZooKeeper server that keeps all on disk: beside Curator's locks and Spring's, and beside the plainest creation and deletion. */
final class ZooKeeperBench {
  private static final int THREADS = 16;
  private static final List<String> LOCKS = List.of(
      Peers.US, ZooKeeperPeers.CURATOR, ZooKeeperPeers.CURATOR_SEMAPHORE, ZooKeeperPeers.SPRING);

  private final Scale scale;
  private final String uri;

  private ZooKeeperBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  static List<Row> run(Scale scale) throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      return new ZooKeeperBench(scale, "zookeeper://" + server.address()).all();
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
    List<String> all = new ArrayList<>(LOCKS);
    all.add(0, ZooKeeperPeers.PLAIN);
    Map<String, Samples> rates =
        Compared.measure(scale, peers, all, peer -> Compared.alone(scale, peer));
    return Compared.row(
        "ZooKeeper: acquire and release, uncontended, against one creation and one deletion",
        "ZooKeeper：无争用的获取与释放，对比一次创建加一次删除",
        rates,
        ZooKeeperPeers.PLAIN,
        0.95);
  }

  private Row oneLock(Peers peers) throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale.warm(), peers, LOCKS, peer -> Compared.contention(scale, peer, THREADS, "one"));
    return Compared.row(
        "ZooKeeper: " + THREADS + " threads, one lock, against Curator's mutex",
        "ZooKeeper：" + THREADS + " 个线程，一把锁，对比 Curator 的互斥锁",
        rates,
        ZooKeeperPeers.CURATOR,
        20);
  }

  private static List<Row> contention(Processes processes) throws Exception {
    Map<String, Processes.Result> results = processes.contend(() -> new long[0]);
    Processes.Result ours = Objects.requireNonNull(results.get(Peers.US));
    Processes.Result curator = Objects.requireNonNull(results.get(ZooKeeperPeers.CURATOR));
    double ratio = ours.rates().median() / curator.rates().median();
    double even = ours.leastToMost();
    StringBuilder others = new StringBuilder();
    results.forEach((peer, result) -> {
      if (!peer.equals(Peers.US)) {
        others.append("; ").append(peer).append(' ').append(result.text(""));
      }
    });
    String what = "ZooKeeper: " + Processes.PROCESSES + " processes of " + Processes.THREADS
        + " threads, one lock";
    String chinese =
        "ZooKeeper：" + Processes.PROCESSES + " 个进程，各 " + Processes.THREADS + " 个线程，一把锁";
    return List.of(
        Row.now(
            what + ", against Curator's mutex",
            chinese + "，对比 Curator 的互斥锁",
            ours.text("") + others,
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
        / Objects.requireNonNull(passed.get(ZooKeeperPeers.CURATOR)).micros(0.5);
    return Row.now(
        "ZooKeeper: from a release in one process to the grant in another, against Curator's mutex",
        "ZooKeeper：从一个进程释放到另一个进程获得，对比 Curator 的互斥锁",
        Processes.text(passed),
        "<= 0.70",
        Row.text("%.2f", ratio),
        ratio <= 0.7);
  }
}
