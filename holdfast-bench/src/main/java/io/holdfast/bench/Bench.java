// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.sql.SqlKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Measures what bars are set for: {@code dev/bench [--quick] [--readme] [GROUP...]}. */
public final class Bench {
  private static final Set<String> OPTIONS = Set.of("--quick", "--readme");

  /** In this order: the engine alone comes first, before the compiler has seen a second store. */
  private static final Map<String, Group> GROUPS = new LinkedHashMap<>();

  static {
    GROUPS.put("memory", (scale, folder) -> MemoryBench.run(scale));
    GROUPS.put("reentry", (scale, folder) -> ReentryBench.run(scale));
    GROUPS.put("keeping", (scale, folder) -> KeepingBench.run(scale));
    GROUPS.put("sqlite", SqliteBench::run);
    GROUPS.put("redis", (scale, folder) -> RedisBench.run(scale));
    GROUPS.put("postgresql", (scale, folder) -> SqlBench.run(scale, SqlKind.POSTGRESQL));
    GROUPS.put("mariadb", (scale, folder) -> SqlBench.run(scale, SqlKind.MARIADB));
    GROUPS.put("mysql", (scale, folder) -> SqlBench.run(scale, SqlKind.MYSQL));
    GROUPS.put("etcd", (scale, folder) -> EtcdBench.run(scale));
    GROUPS.put("consul", (scale, folder) -> ConsulBench.run(scale));
    GROUPS.put("zookeeper", (scale, folder) -> ZooKeeperBench.run(scale));
  }

  /** Rows that are measured together. */
  private interface Group {
    List<Row> run(Scale scale, Path folder) throws Exception;
  }

  private Bench() {}

  /** Runs everything, or the groups that are named; prints the table, and writes it into the documents if asked to. */
  public static void main(String[] args) throws Exception {
    List<String> arguments = List.of(args);
    List<String> groups =
        arguments.stream().filter(argument -> !OPTIONS.contains(argument)).toList();
    boolean readme = arguments.contains("--readme");
    if (!GROUPS.keySet().containsAll(groups) || (readme && !groups.isEmpty())) {
      System.err.println("usage: dev/bench [--quick] [--readme | GROUP...]; the groups are "
          + String.join(", ", GROUPS.keySet()));
      System.exit(64);
    }
    Scale scale = arguments.contains("--quick") ? Scale.QUICK : Scale.FULL;
    List<Row> rows =
        run(scale, groups.isEmpty() ? List.copyOf(GROUPS.keySet()) : groups, Bench::print);
    Report report = new Report(
        rows, new Machine(System.getProperty("holdfast.bench.commit", "unknown"), scale));
    System.out.println("\n" + report.english());
    if (readme) {
      report.write(Path.of(System.getProperty("holdfast.bench.root", ".")));
    }
  }

  private static void print(Row row) {
    System.out.println(Row.text(
        "%s: %s; bar %s: %s, %s (load %.1f)",
        row.name(), row.measured(), row.bar(), row.value(), row.verdict(), row.load()));
  }

  /** Runs everything. */
  static List<Row> run(Scale scale, Consumer<Row> told) throws Exception {
    return run(scale, List.copyOf(GROUPS.keySet()), told);
  }

  private static List<Row> run(Scale scale, List<String> groups, Consumer<Row> told)
      throws Exception {
    Path folder = Files.createTempDirectory("holdfast-bench");
    try {
      List<Row> rows = new ArrayList<>();
      for (Map.Entry<String, Group> group : GROUPS.entrySet()) {
        if (groups.contains(group.getKey())) {
          List<Row> some = group.getValue().run(scale, folder);
          some.forEach(told);
          rows.addAll(some);
        }
      }
      return rows;
    } finally {
      remove(folder);
    }
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
