// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Several processes on one Redis server: what they get through, and how long a lock is on its way between them. */
final class RedisProcessesBench implements AutoCloseable {
  private static final List<String> PEERS = List.of(
      Peers.US,
      RedisPeers.REDISSON,
      RedisPeers.FAIR,
      RedisPeers.FENCED,
      RedisPeers.SPRING,
      RedisPeers.TOKEN);

  private final Scale scale;
  private final RedisCommandCount commands;
  private final Processes processes;

  RedisProcessesBench(Scale scale, int port) throws IOException {
    this.scale = scale;
    processes = new Processes(scale, Integer.toString(port), PEERS);
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
  }

  private static String text(Processes.Result result) {
    RedisCommandCount.Calls calls =
        new RedisCommandCount.Calls(result.counted[0], result.counted[1]);
    return result.text(", " + calls.per(result.all()) + " commands a cycle");
  }

  List<Row> contention() throws IOException {
    return contentionRows(processes.contend(() -> {
      RedisCommandCount.Calls now = commands.now();
      return new long[] {now.all(), now.scripts()};
    }));
  }

  private static List<Row> contentionRows(Map<String, Processes.Result> results) {
    Processes.Result ours = Objects.requireNonNull(results.get(Peers.US));
    Processes.Result redisson = Objects.requireNonNull(results.get(RedisPeers.REDISSON));
    Processes.Result token = Objects.requireNonNull(results.get(RedisPeers.TOKEN));
    String all = results.entrySet().stream()
        .filter(each -> !each.getKey().equals(Peers.US))
        .map(each -> each.getKey() + " " + text(each.getValue()))
        .collect(Collectors.joining("; "));
    double rate = ours.rates().median();
    double toRedisson = rate / redisson.rates().median();
    double toToken = rate / token.rates().median();
    double p99 = ours.waits.micros(0.99) / redisson.waits.micros(0.99);
    double even = ours.leastToMost();
    String name = "Redis: " + Processes.PROCESSES + " processes of " + Processes.THREADS
        + " threads, one lock";
    String chinese = "Redis：" + Processes.PROCESSES + " 个进程，各 " + Processes.THREADS + " 个线程，一把锁";
    return List.of(
        Row.now(
            name + ", against Redisson",
            chinese + "，对比 Redisson",
            text(ours) + "; " + all,
            ">= 5 x",
            Row.text("%.2f", toRedisson),
            toRedisson >= 5),
        Row.now(
            name + ", against a token passed by BLPOP and LPUSH",
            chinese + "，对比用 BLPOP 和 LPUSH 传递的令牌",
            "as above",
            ">= 1.00",
            Row.text("%.2f", toToken),
            toToken >= 1),
        Row.now(
            name + ", 99th percentile of the waits, against Redisson",
            chinese + "，等待的第 99 百分位，对比 Redisson",
            "as above",
            "<= 0.25",
            Row.text("%.2f", p99),
            p99 <= 0.25),
        Row.now(
            name + ", acquisitions of a process, least to most",
            chinese + "，各进程获取次数，最少比最多",
            "as above",
            ">= 0.50",
            Row.text("%.2f", even),
            even >= 0.5));
  }

  Row handOver() throws IOException {
    Map<String, Waits> results = processes.pass();
    Waits ours = Objects.requireNonNull(results.get(Peers.US));
    double ratio = ours.micros(0.5)
        / Objects.requireNonNull(results.get(RedisPeers.REDISSON)).micros(0.5);
    return Row.now(
        "Redis: from a release in one process to the grant in another, against Redisson",
        "Redis：从一个进程释放到另一个进程获得，对比 Redisson",
        Processes.text(results),
        "<= 0.50",
        Row.text("%.2f", ratio),
        ratio <= 0.5);
  }

  /** Each contender in a process of its own, which has nothing else to do. */
  List<Row> keeping(int holds) throws IOException {
    Duration time =
        scale.keep().compareTo(Duration.ofMinutes(1)) > 0 ? Duration.ofMinutes(1) : scale.keep();
    Processes.Kept ours = processes.keep(Peers.US, holds, time);
    Processes.Kept redisson = processes.keep(RedisPeers.REDISSON, holds, time);
    String many = Row.text("%,d", holds);
    String seconds = Row.text("%.0f", time.toMillis() / 1e3);
    return List.of(
        Row.now(
            "Redis: " + many + " locks kept for " + seconds
                + " s: CPU of the client, against Redisson",
            "Redis：保持 " + many + " 把锁 " + seconds + " 秒：客户端 CPU，对比 Redisson",
            Row.text(
                "%.2f s; Redisson %.2f s; Redisson lost %d; lost %d",
                ours.cpuSeconds(), redisson.cpuSeconds(), redisson.lost(), ours.lost()),
            "<= 1.00, none lost",
            Row.text("%.2f, %d lost", ours.cpuSeconds() / redisson.cpuSeconds(), ours.lost()),
            ours.cpuSeconds() <= redisson.cpuSeconds() && ours.lost() == 0),
        Row.now(
            "Redis: " + many + " locks kept: heap of the client, against Redisson",
            "Redis：保持 " + many + " 把锁：客户端堆，对比 Redisson",
            Row.text("%d B each; Redisson %d B", ours.bytes(), redisson.bytes()),
            "<= 1.00",
            Row.text("%.2f", ours.bytes() / (double) redisson.bytes()),
            ours.bytes() <= redisson.bytes()));
  }

  @Override
  public void close() {
    processes.close();
    commands.close();
  }
}
