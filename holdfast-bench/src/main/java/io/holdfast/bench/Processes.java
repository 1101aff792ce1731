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

/** Several processes that take the same locks: what they get through, and how long a lock is on its way between them. */
final class Processes implements AutoCloseable {
  static final int PROCESSES = 4;
  static final int THREADS = 4;

  /** How long a process has the lock when it passes it on, in microseconds. */
  static final int SHORT_TURN = 2_000;

  /** Longer than a request to a store that asks a disk or a majority: the other process waits by then. */
  static final int LONG_TURN = 20_000;

  /** The first counts for starting clients as well. */
  private static final int WARM_UPS = 5;

  /** What is counted beside cycles. */
  @FunctionalInterface
  interface Counted {
    /** Returns how much there was until now. */
    long[] now();
  }

  private final Scale scale;
  private final String server;
  private final List<String> peers;
  private final Path file;
  private final SharedCount count;
  private final Contestants processes;

  /**
   * Starts the processes, and lets each connect as every peer.
   *
   * @param server see {@link Peers#of}
   */
  Processes(Scale scale, String server, List<String> peers) throws IOException {
    this.scale = scale;
    this.server = server;
    this.peers = List.copyOf(peers);
    file = Files.createTempFile("holdfast-bench", ".count");
    count = new SharedCount(file);
    processes = new Contestants(PROCESSES, server, file);
    processes.meet(this.peers);
  }

  /** What one peer did in all trials together. */
  static final class Result {
    private final double[] rates;
    private final long[] cycles = new long[PROCESSES];
    final Waits waits = new Waits();
    final long[] counted;
    long violations;

    Result(int trials, int counters) {
      rates = new double[trials];
      counted = new long[counters];
    }

    Samples rates() {
      return new Samples(rates);
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

    /** Says all of it, with something that was counted beside. */
    String text(String more) {
      return Row.text(
          "%s, waits p50 %.2f ms, p99 %.2f ms, max %.1f ms, least/most %.2f%s, violations %d",
          Row.spread(rates(), "/s"),
          waits.micros(0.5) / 1e3,
          waits.micros(0.99) / 1e3,
          waits.maxMicros() / 1e3,
          leastToMost(),
          more,
          violations);
    }
  }

  /** All threads of all processes want one lock. */
  Map<String, Result> contend(Counted counted) throws IOException {
    Map<String, Result> results = new LinkedHashMap<>();
    int counters = counted.now().length;
    peers.forEach(peer -> results.put(peer, new Result(scale.trials(), counters)));
    int warmUps = Math.min(WARM_UPS, scale.warmUps());
    for (int trial = -warmUps; trial < scale.trials(); trial++) {
      for (Map.Entry<String, Result> each : results.entrySet()) {
        contend(each.getKey(), each.getValue(), trial, counted);
      }
    }
    return results;
  }

  private void contend(String peer, Result result, int trial, Counted counted) throws IOException {
    long counts = count.get();
    long[] before = counted.now();
    List<String> answers = processes.tell(
        PROCESSES, "contend", peer, "four " + peer, scale.trial().toMillis() * 2, THREADS);
    long[] after = counted.now();
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
    result.violations += cycles - (count.get() - counts);
    if (trial >= 0) {
      result.rates[trial] = rate;
      for (int i = 0; i < after.length; i++) {
        result.counted[i] += after[i] - before[i];
      }
    }
  }

  /** Two processes pass one lock to and fro; returns how long it was on its way. */
  Map<String, Waits> pass() throws IOException {
    return pass("pass", SHORT_TURN);
  }

  /** The same, one turn each, of so many microseconds. */
  Map<String, Waits> swap(int turn) throws IOException {
    return pass("swap", turn);
  }

  private Map<String, Waits> pass(String how, int turn) throws IOException {
    Map<String, Waits> results = new LinkedHashMap<>();
    peers.forEach(peer -> results.put(peer, new Waits()));
    int trials = Math.max(1, scale.trials() / 2);
    for (int trial = -Math.min(scale.warmUps(), 2); trial < trials; trial++) {
      for (Map.Entry<String, Waits> each : results.entrySet()) {
        List<String> turns = processes.tell(
            2, how, each.getKey(), "two " + each.getKey(), scale.trial().toMillis() * 3, turn);
        long violations = passed(turns, trial < 0 ? new Waits() : each.getValue());
        if (violations > 0) {
          throw new IllegalStateException(
              violations + " times two had the lock of " + each.getKey());
        }
      }
    }
    return results;
  }

  /** Says how long the lock was on its way for each. */
  static String text(Map<String, Waits> passed) {
    StringBuilder text = new StringBuilder();
    passed.forEach((peer, waits) -> text.append(text.isEmpty() ? "" : "; ")
        .append(peer.equals(Peers.US) ? "" : peer + " ")
        .append(Row.text(
            "p50 %.2f ms, p99 %.2f ms", waits.micros(0.5) / 1e3, waits.micros(0.99) / 1e3)));
    return text.toString();
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

  /** What one process spent that kept locks and did nothing else. */
  record Kept(double cpuSeconds, long bytes, long lost) {}

  Kept keep(String peer, int holds, Duration time) throws IOException {
    try (Contestants alone = new Contestants(1, server, file)) {
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
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      System.err.println("left behind: " + file + ": " + e.getMessage());
    }
  }
}
