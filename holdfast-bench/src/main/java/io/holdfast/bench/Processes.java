// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Ticker;
import io.holdfast.measure.Contention;
import io.holdfast.measure.HandOver;
import io.holdfast.measure.Samples;
import io.holdfast.measure.Waits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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

  /** How even the processes were. */
  static final String EVEN = "least/most of a process";

  /** What a server counts beside. */
  @FunctionalInterface
  interface Counted {
    Counted NOTHING = Map::of;

    /** Returns how much there was until now, by what it is. */
    Map<String, Long> now();
  }

  private final Scale scale;
  private final String server;
  private final List<String> peers;
  private final Path file;
  private final SharedCount count;
  private final Contestants processes;

  /** Violations that were seen while warming up, and are not told yet. */
  private final Map<String, Long> early = new HashMap<>();

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
  private static final class Result {
    private final double[] rates;
    private final long[][] cycles;
    private final Waits waits = new Waits();
    private final Map<String, Double> counted = new LinkedHashMap<>();
    private long violations;

    Result(int trials, int among, int threads) {
      rates = new double[trials];
      cycles = new long[among][threads];
    }

    Figure figure(String peer) {
      long[] ofProcesses =
          Arrays.stream(cycles).mapToLong(each -> Arrays.stream(each).sum()).toArray();
      long[] ofThreads = Arrays.stream(cycles).flatMapToLong(Arrays::stream).toArray();
      long all = Arrays.stream(ofProcesses).sum();
      Figure figure = Figure.of(peer, new Samples(rates))
          .with(waits)
          .with(EVEN, Contention.leastToMost(ofProcesses))
          .with("least/most of a thread", Contention.leastToMost(ofThreads))
          .noting(Arrays.stream(ofProcesses)
              .mapToObj(each -> Text.of("%,d", each))
              .collect(Collectors.joining(", ", "acquired by the processes: ", "")));
      for (Map.Entry<String, Double> each : counted.entrySet()) {
        figure = figure.with(each.getKey() + " a cycle", each.getValue() / all);
      }
      return figure.with(Figure.VIOLATIONS, violations);
    }
  }

  /**
   * One thread of each process wants one lock, until that has changed hands often enough for the compiler, or for as long as
   * the scale says.
   */
  void warmUp() throws Exception {
    Trials.Contender[] all = peers.stream()
        .map(peer -> (Trials.Contender) () -> {
          Result result = new Result(0, PROCESSES, 1);
          double rate = contend(peer, result, -1, Counted.NOTHING);
          early.merge(peer, result.violations, Long::sum);
          return rate;
        })
        .toArray(Trials.Contender[]::new);
    Trials.warmUp(Ticker.system(), 0, scale.longestWarmUp(), all);
  }

  /** All threads of all processes want one lock. */
  List<Figure> contend(Counted counted) throws IOException {
    return contend(scale, peers, PROCESSES, THREADS, counted);
  }

  /** So many threads of each of so many processes want one lock. */
  List<Figure> contend(Scale trials, List<String> some, int among, int threads, Counted counted)
      throws IOException {
    Map<String, Result> results = new LinkedHashMap<>();
    for (String peer : some) {
      Result result = new Result(trials.trials(), among, threads);
      Long seen = early.remove(peer);
      result.violations = seen == null ? 0 : seen;
      results.put(peer, result);
    }
    int warmUps = Math.min(WARM_UPS, trials.warmUps());
    for (int trial = -warmUps; trial < trials.trials(); trial++) {
      for (Map.Entry<String, Result> each : results.entrySet()) {
        contend(each.getKey(), each.getValue(), trial, counted);
      }
    }
    return results.entrySet().stream()
        .map(each -> each.getValue().figure(each.getKey()))
        .toList();
  }

  /** Returns cycles per second of the process that got the fewest. */
  private double contend(String peer, Result result, int trial, Counted counted)
      throws IOException {
    long counts = count.get();
    Map<String, Long> before = counted.now();
    int among = result.cycles.length;
    int threads = result.cycles[0].length;
    List<String> answers = processes.tell(
        among, "contend", peer, "many " + peer, scale.trial().toMillis() * 2, threads);
    Map<String, Long> after = counted.now();
    double rate = 0;
    double least = Double.MAX_VALUE;
    long cycles = 0;
    for (int i = 0; i < among; i++) {
      String[] parts = answers.get(i).split("\t", -1);
      String[] each = parts[0].split(",", -1);
      for (int thread = 0; thread < threads; thread++) {
        long done = Long.parseLong(each[thread]);
        cycles += done;
        result.cycles[i][thread] += trial < 0 ? 0 : done;
      }
      double own = Double.parseDouble(parts[1]);
      rate += own;
      least = Math.min(least, own);
      if (trial >= 0) {
        result.waits.addAll(Waits.decode(parts[2]));
      }
    }
    result.violations += cycles - (count.get() - counts);
    if (trial >= 0) {
      result.rates[trial] = rate;
      after.forEach((what, now) ->
          result.counted.merge(what, (double) (now - before.getOrDefault(what, 0L)), Double::sum));
    }
    return least;
  }

  /** Two processes pass one lock to and fro; returns how long it was on its way. */
  List<Figure> pass() throws IOException {
    return pass("pass", SHORT_TURN);
  }

  /** The same, one turn each, of so many microseconds. */
  List<Figure> swap(int turn) throws IOException {
    return pass("swap", turn);
  }

  private List<Figure> pass(String how, int turn) throws IOException {
    int trials = Math.max(1, scale.trials() / 2);
    double[][] medians = new double[peers.size()][trials];
    List<Waits> all = peers.stream().map(peer -> new Waits()).toList();
    long[] violations = new long[peers.size()];
    for (int trial = -Math.min(scale.warmUps(), 2); trial < trials; trial++) {
      for (int i = 0; i < peers.size(); i++) {
        String peer = peers.get(i);
        Waits waits = new Waits();
        List<String> answers =
            processes.tell(2, how, peer, "two " + peer, scale.trial().toMillis() * 3, turn);
        violations[i] += HandOver.judge(answers.stream().map(Processes::turns).toList(), waits);
        if (trial >= 0) {
          medians[i][trial] = waits.micros(0.5) / 1e3;
          all.get(i).addAll(waits);
        }
      }
    }
    return IntStream.range(0, peers.size())
        .mapToObj(i -> Figure.of(peers.get(i), new Samples(medians[i]))
            .with(all.get(i))
            .with(Figure.VIOLATIONS, violations[i]))
        .toList();
  }

  private static List<HandOver.Turn> turns(String answer) {
    List<HandOver.Turn> turns = new ArrayList<>();
    for (String turn : answer.split(",", -1)) {
      String[] at = turn.split(":", -1);
      turns.add(new HandOver.Turn(Long.parseLong(at[0]), Long.parseLong(at[1])));
    }
    return turns;
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
