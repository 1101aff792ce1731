// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.measure.Result;
import io.holdfast.measure.Samples;
import io.holdfast.measure.StoreMeasurement;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast bench}. */
@Command(
    name = "bench",
    header =
        "Measures the locks on your own store: how many cycles a second, and how long a wait takes.",
    description = {
      "",
      "Takes locks under names of its own (holdfast-bench/...) with default options: one thread alone, 16 threads with a"
          + " lock each, 16 threads that want one lock, two clients that hand one over, and a thread that enters again."
          + " Counts how often two threads held one lock at once. Every lock is free again at the end.",
      "",
      "Waits are from asking for the lock to having it; in a hand-over, from the release to the next grant. Both clients"
          + " are in this process. Exits with 0, or with 1 if two threads ever held one lock at once.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  holdfast bench --store redis://localhost:6379 --quick",
      "  holdfast bench --store @production.uri --seconds 60 --json >bench.json"
    },
    sortOptions = false)
final class BenchCommand implements Callable<Integer> {
  private static final int USUAL_SECONDS = 20;
  private static final int QUICK_SECONDS = 5;
  private static final int MOST_SECONDS = 3600;

  @Mixin
  StoreOption store = new StoreOption();

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description =
          "How long to measure, all together, from 1 to 3600 (20). A slow store takes longer.")
  @Nullable
  Integer seconds;

  @Option(names = "--quick", description = "Measure for 5 seconds.")
  boolean quick;

  @Option(names = "--json", description = "Print a JSON object.")
  boolean json;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask, even if the store has other locks.")
  boolean yes;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Override
  public Integer call() throws Exception {
    Messages messages = verbosity.messages();
    Duration time = time();
    StoreChoice choice = store.choose(messages);
    // a memory store without a name would be another one for the second client
    String uri = choice.uri().equals("memory:") ? "memory:holdfast-bench" : choice.uri();
    LockStore opened = Stores.open(uri);
    try (Holdfast first = connect(opened)) {
      String described = opened.describe();
      OtherLocks.confirm(opened, StoreMeasurement.PREFIX, yes);
      try (Holdfast second = connect(Stores.open(uri));
          Hold alone = alone(first)) {
        // also after Ctrl-C; whatever cannot be released then is free when its lease has ended
        Runtime.getRuntime()
            .addShutdownHook(new Thread(() -> List.of(second, first).forEach(Holdfast::close)));
        messages.note("store " + choice + ", " + time.toSeconds() + " s");
        List<Result> results = new StoreMeasurement(first, second, time, progress(messages)).run();
        messages.clearProgress();
        alone.ensureValid();
        return say(described, time, results, json);
      }
    }
  }

  private Duration time() {
    if (quick && seconds != null) {
      throw new CliException(Exit.USAGE, "--quick and --seconds exclude each other");
    }
    int chosen = seconds != null ? seconds : quick ? QUICK_SECONDS : USUAL_SECONDS;
    if (chosen < 1 || chosen > MOST_SECONDS) {
      throw new CliException(
          Exit.USAGE, "--seconds must be from 1 to " + MOST_SECONDS + ", not " + chosen);
    }
    return Duration.ofSeconds(chosen);
  }

  private static Holdfast connect(LockStore store) {
    return StoreChoice.patient().store(store).clientName("holdfast bench").build();
  }

  /** Two measurements at once would measure each other, under the same names. */
  private static Hold alone(Holdfast holdfast) throws InterruptedException {
    Optional<Hold> hold = holdfast.lock(StoreMeasurement.PREFIX + "run").tryAcquire();
    return hold.orElseThrow(() -> new CliException(
        Exit.BUSY,
        "another bench measures this store; wait until it has ended ('holdfast show "
            + StoreMeasurement.PREFIX + "run' names its process)"));
  }

  private static Consumer<String> progress(Messages messages) {
    return Terminal.is(2) ? messages::progress : messages::note;
  }

  static int say(String described, Duration time, List<Result> results, boolean json) {
    long violations =
        results.stream().mapToLong(each -> each.violations().orElse(0)).sum();
    if (json) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("store", described);
      report.put("seconds", time.toSeconds());
      report.put("java", Runtime.version().toString());
      report.put("cores", Runtime.getRuntime().availableProcessors());
      report.put("violations", violations);
      report.put("workloads", results.stream().map(BenchCommand::json).toList());
      Output.print(Json.write(report));
    } else {
      Output.print(
          row("", "cycles/s", "(least to greatest)", "wait p50", "p99", "max", "violations"));
      results.forEach(each -> Output.print(row(each)));
    }
    if (violations > 0) {
      new Messages(Stderr.ours(), Messages.Level.USUAL)
          .error(violations + " times two threads held one lock at once: do not trust this store"
              + " with locks before 'holdfast doctor' and 'holdfast verify' have told why");
      return Exit.BROKEN;
    }
    return Exit.OK;
  }

  private static String row(Object... cells) {
    return String.format(Locale.ROOT, "%-30s %12s %27s %10s %10s %10s %11s", cells)
        .stripTrailing();
  }

  private static String row(Result result) {
    Optional<Samples> rates = result.perSecond();
    return row(
        result.workload(),
        rates.map(each -> number(each.median())).orElse("-"),
        rates
            .map(each -> "(" + number(each.least()) + " to " + number(each.greatest()) + ")")
            .orElse(""),
        millis(result.millis(0.5)),
        millis(result.millis(0.99)),
        millis(result.maxMillis()),
        result.violations().isPresent() ? Long.toString(result.violations().getAsLong()) : "-");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value);
  }

  private static String millis(OptionalDouble millis) {
    return millis.isEmpty() ? "-" : String.format(Locale.ROOT, "%.3f ms", millis.getAsDouble());
  }

  private static Map<String, Object> json(Result result) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("workload", result.workload());
    result.perSecond().ifPresent(rates -> {
      fields.put("cyclesPerSecond", rounded(rates.median()));
      fields.put("least", rounded(rates.least()));
      fields.put("greatest", rounded(rates.greatest()));
    });
    result.millis(0.5).ifPresent(millis -> fields.put("waitP50Millis", rounded(millis)));
    result.millis(0.99).ifPresent(millis -> fields.put("waitP99Millis", rounded(millis)));
    result.maxMillis().ifPresent(millis -> fields.put("waitMaxMillis", rounded(millis)));
    fields.put("cycles", result.cycles());
    result.violations().ifPresent(count -> fields.put("violations", count));
    return fields;
  }

  /** Thousandths are enough, and of large numbers none. */
  private static Object rounded(double value) {
    return value >= 1000 ? (Object) Math.round(value) : (Object) (Math.rint(value * 1000) / 1000);
  }
}
