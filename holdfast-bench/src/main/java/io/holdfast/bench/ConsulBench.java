// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.consul.ConsulServer;
import io.holdfast.testkit.process.ServerProcess;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One Consul server that keeps all on disk: beside the plainest two transactions, and beside one blocking query's answer.
 * There is no other lock of Java's to compare with.
 */
final class ConsulBench {
  private static final int THREADS = 16;

  private final Scale scale;
  private final String uri;

  private ConsulBench(Scale scale, String uri) {
    this.scale = scale;
    this.uri = uri;
  }

  /** Returns nothing, and says so, without a server and unless it is required. */
  static List<Row> run(Scale scale) throws Exception {
    boolean required = System.getProperty("holdfast.stores", "").equals("required");
    if (!required && !ServerProcess.isThere("consul")) {
      System.out.println("consul: not measured, the server was not found (dev/servers brings one)");
      return List.of();
    }
    try (ConsulServer server = ConsulServer.with()) {
      return new ConsulBench(scale, server.uri()).all();
    }
  }

  private List<Row> all() throws Exception {
    List<Row> rows = new ArrayList<>();
    try (Peers peers = Peers.of(uri)) {
      rows.add(uncontended(peers));
      rows.add(oneLock(peers));
      rows.addAll(contention(peers));
    }
    try (Processes processes = new Processes(scale, uri, List.of(Peers.US, ConsulPeers.QUERY))) {
      rows.add(handOver(processes));
    }
    return rows;
  }

  private Row uncontended(Peers peers) throws Exception {
    Map<String, Samples> rates = Compared.measure(
        scale, peers, List.of(ConsulPeers.PLAIN, Peers.US), peer -> Compared.alone(scale, peer));
    return Compared.row(
        "Consul: acquire and release, uncontended, against two plain transactions",
        "Consul：无争用的获取与释放，对比两个普通事务",
        rates,
        ConsulPeers.PLAIN,
        0.9);
  }

  /** The floor is one thread's: threads that want one lock can do no better, unless it stays in the process. */
  private Row oneLock(Peers peers) throws Exception {
    Contention contention =
        new Contention(Collections.nCopies(THREADS, peers.get(Peers.US).lock("one")));
    List<Samples> rates = Trials.interleave(
        scale.warm(),
        Compared.alone(scale, peers.get(ConsulPeers.PLAIN)),
        () -> contention.perSecond(scale.trial()));
    Samples plain = rates.get(0);
    Samples ours = rates.get(1);
    double ratio = ours.median() / plain.median();
    return Row.now(
        "Consul: " + THREADS + " threads, one lock, against one thread's plain transactions",
        "Consul：" + THREADS + " 个线程，一把锁，对比单线程的普通事务",
        Row.text(
            "%s; %s %s, violations %d",
            Row.spread(ours, "/s"),
            ConsulPeers.PLAIN,
            Row.spread(plain, "/s"),
            contention.violations()),
        "no violations",
        Row.text("%.2f", ratio),
        contention.violations() == 0);
  }

  private List<Row> contention(Peers peers) throws Exception {
    Processes.Result ours;
    try (Processes processes = new Processes(scale, uri, List.of(Peers.US))) {
      ours = Objects.requireNonNull(processes.contend(() -> new long[0]).get(Peers.US));
    }
    Samples plain = Trials.interleave(
            scale.warm(), Compared.alone(scale, peers.get(ConsulPeers.PLAIN)))
        .get(0);
    double ratio = ours.rates().median() / plain.median();
    double even = ours.leastToMost();
    String what = "Consul: " + Processes.PROCESSES + " processes of " + Processes.THREADS
        + " threads, one lock";
    String chinese = "Consul：" + Processes.PROCESSES + " 个进程，各 " + Processes.THREADS + " 个线程，一把锁";
    return List.of(
        Row.now(
            what + ", against one thread's plain transactions",
            chinese + "，对比单线程的普通事务",
            ConsulPeers.PLAIN + " " + Row.spread(plain, "/s") + "; ours " + ours.text(""),
            "no violations",
            Row.text("%.2f", ratio),
            ours.violations == 0),
        Row.now(
            what + ", acquisitions of a process, least to most",
            chinese + "，各进程获取次数，最少比最多",
            "as above",
            ">= 0.50",
            Row.text("%.2f", even),
            even >= 0.5));
  }

  /** Both are counted from before the last request of the one that has the turn. */
  private static Row handOver(Processes processes) throws Exception {
    Map<String, Waits> passed = processes.swap(Processes.LONG_TURN);
    double ratio = Objects.requireNonNull(passed.get(Peers.US)).micros(0.5)
        / Objects.requireNonNull(passed.get(ConsulPeers.QUERY)).micros(0.5);
    return Row.now(
        "Consul: from a release in one process to the grant in another, against a write and a blocking query's answer",
        "Consul：从一个进程释放到另一个进程获得，对比一次写入加一次阻塞查询的应答",
        Processes.text(passed),
        "<= 1.50",
        Row.text("%.2f", ratio),
        ratio <= 1.5);
  }
}
