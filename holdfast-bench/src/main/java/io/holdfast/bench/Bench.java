// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Measures what the issue sets bars for: {@code dev/bench [--quick] [--readme]}. */
public final class Bench {
  private static final Set<String> OPTIONS = Set.of("--quick", "--readme");

  private Bench() {}

  /** Runs everything, prints the table, and writes it into the documents if asked to. */
  public static void main(String[] args) throws Exception {
    List<String> options = List.of(args);
    if (!OPTIONS.containsAll(options)) {
      System.err.println("usage: dev/bench [--quick] [--readme]");
      System.exit(64);
    }
    Scale scale = options.contains("--quick") ? Scale.QUICK : Scale.FULL;
    List<Row> rows = run(scale, Bench::print);
    Report report = new Report(
        rows, new Machine(System.getProperty("holdfast.bench.commit", "unknown"), scale));
    System.out.println("\n" + report.english());
    if (options.contains("--readme")) {
      report.write(Path.of(System.getProperty("holdfast.bench.root", ".")));
    }
  }

  private static void print(Row row) {
    System.out.println(Row.text(
        "%s: %s; bar %s: %s, %s (load %.1f)",
        row.name(), row.measured(), row.bar(), row.value(), row.verdict(), row.load()));
  }

  /** The engine alone comes first, before the compiler has seen a second store. */
  static List<Row> run(Scale scale, Consumer<Row> told) throws Exception {
    Path folder = Files.createTempDirectory("holdfast-bench");
    try {
      List<Row> rows = new ArrayList<>();
      tell(MemoryBench.run(scale), rows, told);
      tell(ReentryBench.run(scale), rows, told);
      tell(KeepingBench.run(scale), rows, told);
      tell(SqliteBench.run(scale, folder), rows, told);
      return rows;
    } finally {
      remove(folder);
    }
  }

  private static void tell(List<Row> some, List<Row> rows, Consumer<Row> told) {
    some.forEach(told);
    rows.addAll(some);
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
