// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Several processes on one Redis server: what they get through, and how long a lock is on its way between them. */
final class RedisProcessesBench implements AutoCloseable {
  private static final int PROCESSES = 4;
  private static final int THREADS = 4;
  private static final int PAUSE_MICROS = 2000;

  /** The first counts for starting clients as well. */
  private static final int WARM_UPS = 5;

  private static final List<String> PEERS = List.of(
      RedisPeers.US,
      RedisPeers.REDISSON,
      RedisPeers.FAIR,
      RedisPeers.FENCED,
      RedisPeers.SPRING,
      RedisPeers.TOKEN);

  private final Scale scale;
  private final int port;
  private final Path file;
  private final SharedCount count;
  private final RedisCommandCount commands;
  private final Contestants processes;

  RedisProcessesBench(Scale scale, int port) throws IOException {
    this.scale = scale;
    this.port = port;
    file = Files.createTempFile("holdfast-bench", ".count");
    count = new SharedCount(file);
    processes = new Contestants(PROCESSES, port, file);
    commands = new RedisCommandCount("redis://127.0.0.1:" + port);
    processes.meet(PEERS);
  }

  /** What one peer did in all trials together. */
  private static final class Result {
    final double[] rates;
    final long[] cycles = new long[PROCESSES];
    final Waits waits = new Waits();
    long asked;
    long scripts;
    long violations;

    Result(int trials) {
      rates = new double[trials];
    }

    long all() {
      long sum = 0;
      for (long each : cycles) {
        sum += each;
      }
      return sum;
    }

    double leastToMost() {
      long least = Long.MAX_VALUE;
      long most = 1;
      for (long each : cycles) {
        least = Math.min(least, each);
        most = Math.max(most, each);
      }
      return least / (double) most;
    }

    String text() {
      return Row.text(
          "%s, waits p50 %.2f ms, p99 %.2f ms, max %.1f ms, least/most %.2f, %s commands a cycle, violations %d",
          Row.spread(new Samples(rates), "/s"),
          waits.micros(0.5) / 1e3,
          waits.micros(0.99) / 1e3,
          waits.maxMicros() / 1e3,
          leastToMost(),
          new RedisCommandCount.Calls(asked, scripts).per(all()),
          violations);
    }
  }

  List<Row> contention() throws IOException {
    Map<String, Result> results = new LinkedHashMap<>();
    PEERS.forEach(peer -> results.put(peer, new Result(scale.trials())));
    int warmUps = Math.min(WARM_UPS, scale.warmUps());
    for (int trial = -warmUps; trial < scale.trials(); trial++) {
      for (Map.Entry<String, Result> each : results.entrySet()) {
        contend(each.getKey(), each.getValue(), trial);
      }
    }
    return contentionRows(results);
  }

  private void contend(String peer, Result result, int trial) throws IOException {
    long counted = count.get();
    RedisCommandCount.Calls before = commands.now();
    List<String> answers = processes.tell(
        PROCESSES, "contend", peer, "four " + peer, scale.trial().toMillis() * 2, THREADS);
    RedisCommandCount.Calls asked = commands.now().since(before);
    double rate = 0;
    long cycles = 0;
    for (int i = 0; i < PROCESSES; i++) {
      String[] parts = answers.get(i).split("\t", -1);
      cycles += Long.parseLong(parts[0]);
      rate += Double.parseDouble(parts[1]);
      if (trial >= 0) {
        result.cycles[i] += Long.parseLong(parts[0]);
        result.waits.addAll(Waits.decode(parts[2]));
      }
    }
    result.violations += cycles - (count.get() - counted);
    if (trial >= 0) {
      result.rates[trial] = rate;
      result.asked += asked.all();
      result.scripts += asked.scripts();
    }
  }

  private static List<Row> contentionRows(Map<String, Result> results) {
    Result ours = Objects.requireNonNull(results.get(RedisPeers.US));
    Result redisson = Objects.requireNonNull(results.get(RedisPeers.REDISSON));
    Result token = Objects.requireNonNull(results.get(RedisPeers.TOKEN));
    String all = results.entrySet().stream()
        .filter(each -> !each.getKey().equals(RedisPeers.US))
        .map(each -> each.getKey() + " " + each.getValue().text())
        .collect(Collectors.joining("; "));
    double rate = new Samples(ours.rates).median();
    double toRedisson = rate / new Samples(redisson.rates).median();
    double toToken = rate / new Samples(token.rates).median();
    double p99 = ours.waits.micros(0.99) / redisson.waits.micros(0.99);
    double even = ours.leastToMost();
    String name = "Redis: " + PROCESSES + " processes of " + THREADS + " threads, one lock";
    String chinese = "Redis：" + PROCESSES + " 个进程，各 " + THREADS + " 个线程，一把锁";
    return List.of(
        Row.now(
            name + ", against Redisson",
            chinese + "，对比 Redisson",
            ours.text() + "; " + all,
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
    Map<String, Waits> results = new LinkedHashMap<>();
    PEERS.forEach(peer -> results.put(peer, new Waits()));
    long violations = 0;
    int trials = Math.max(1, scale.trials() / 2);
    for (int trial = -Math.min(scale.warmUps(), 2); trial < trials; trial++) {
      for (Map.Entry<String, Waits> each : results.entrySet()) {
        List<String> turns = processes.tell(
            2,
            "pass",
            each.getKey(),
            "two " + each.getKey(),
            scale.trial().toMillis() * 3,
            PAUSE_MICROS);
        violations += passed(turns, trial < 0 ? new Waits() : each.getValue());
      }
    }
    Waits ours = Objects.requireNonNull(results.get(RedisPeers.US));
    double ratio = ours.micros(0.5)
        / Objects.requireNonNull(results.get(RedisPeers.REDISSON)).micros(0.5);
    String all = results.entrySet().stream()
        .map(each -> (each.getKey().equals(RedisPeers.US) ? "" : each.getKey() + " ")
            + Row.text(
                "p50 %.2f ms, p99 %.2f ms",
                each.getValue().micros(0.5) / 1e3, each.getValue().micros(0.99) / 1e3))
        .collect(Collectors.joining("; "));
    return Row.now(
        "Redis: from a release in one process to the grant in another, against Redisson",
        "Redis：从一个进程释放到另一个进程获得，对比 Redisson",
        all + "; violations " + violations,
        "<= 0.50",
        Row.text("%.2f", ratio),
        ratio <= 0.5);
  }

  private record Turn(int process, long granted, long released) {}

  /** Adds the times between a release and the grant after it in the other process; returns how often two had the lock. */
  private static long passed(List<String> answers, Waits waits) {
    List<Turn> turns = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      for (String turn : answers.get(i).split(",", -1)) {
        String[] at = turn.split(":", -1);
        turns.add(new Turn(i, Long.parseLong(at[0]), Long.parseLong(at[1])));
      }
    }
    turns.sort(Comparator.comparingLong(Turn::granted));
    long violations = 0;
    for (int i = 1; i < turns.size(); i++) {
      Turn before = turns.get(i - 1);
      Turn next = turns.get(i);
      if (next.granted - before.released < 0) {
        violations++;
      } else if (next.process != before.process) {
        waits.add(next.granted - before.released);
      }
    }
    return violations;
  }

  /** Each contender in a process of its own, which has nothing else to do. */
  List<Row> keeping(int holds) throws IOException {
    Duration time =
        scale.keep().compareTo(Duration.ofMinutes(1)) > 0 ? Duration.ofMinutes(1) : scale.keep();
    Kept ours = keep(RedisPeers.US, holds, time);
    Kept redisson = keep(RedisPeers.REDISSON, holds, time);
    String many = Row.text("%,d", holds);
    String seconds = Row.text("%.0f", time.toMillis() / 1e3);
    return List.of(
        Row.now(
            "Redis: " + many + " locks kept for " + seconds
                + " s: CPU of the client, against Redisson",
            "Redis：保持 " + many + " 把锁 " + seconds + " 秒：客户端 CPU，对比 Redisson",
            Row.text(
                "%.2f s; Redisson %.2f s; Redisson lost %d; lost %d",
                ours.cpuSeconds, redisson.cpuSeconds, redisson.lost, ours.lost),
            "<= 1.00, none lost",
            Row.text("%.2f, %d lost", ours.cpuSeconds / redisson.cpuSeconds, ours.lost),
            ours.cpuSeconds <= redisson.cpuSeconds && ours.lost == 0),
        Row.now(
            "Redis: " + many + " locks kept: heap of the client, against Redisson",
            "Redis：保持 " + many + " 把锁：客户端堆，对比 Redisson",
            Row.text("%d B each; Redisson %d B", ours.bytes, redisson.bytes),
            "<= 1.00",
            Row.text("%.2f", ours.bytes / (double) redisson.bytes),
            ours.bytes <= redisson.bytes));
  }

  private record Kept(double cpuSeconds, long bytes, long lost) {}

  private Kept keep(String peer, int holds, Duration time) throws IOException {
    try (Contestants alone = new Contestants(1, port, file)) {
      String[] parts = alone
          .tell(1, "keep", peer, "kept" + holds + ":", time.toMillis(), holds)
          .get(0)
          .split("\t", -1);
      return new Kept(
          Long.parseLong(parts[0]) / 1e9, Long.parseLong(parts[1]), Long.parseLong(parts[2]));
    }
  }

  @Override
  public void close() {
    processes.close();
    commands.close();
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      System.err.println("left behind: " + file + ": " + e.getMessage());
    }
  }
}
