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

/** Measures Holdfast beside others: {@code dev/bench [--quick | --full] [--write] [GROUP...]}. */
public final class Bench {
  private static final Set<String> OPTIONS = Set.of("--quick", "--full", "--write", "--draw");
  private static final int USAGE = 64;

  private Bench() {}

  /**
   * Runs everything, or the groups that are named, and prints it; writes pages and charts if asked to. With {@code --draw}
   * nothing is measured: pages and charts are made anew from what was.
   */
  public static void main(String[] args) throws Exception {
    List<String> arguments = List.of(args);
    List<String> groups =
        arguments.stream().filter(argument -> !OPTIONS.contains(argument)).toList();
    if (!Groups.names().containsAll(groups)) {
      System.err.println(
          "usage: dev/bench [--quick | --full] [--write] [GROUP...], or dev/bench --draw;"
              + " the groups are "
              + String.join(", ", Groups.names()));
      System.exit(USAGE);
    }
    Results results = new Results(Path.of(System.getProperty("holdfast.bench.root", ".")));
    if (!arguments.contains("--draw")) {
      boolean write = arguments.contains("--write");
      Scale usual = arguments.contains("--quick") ? Scale.QUICK : Scale.FULL;
      Scale scale = arguments.contains("--full") ? usual.everywhereMany() : usual;
      run(scale, groups.isEmpty() ? Groups.names() : groups, measured -> {
        measured.rows().forEach(row -> System.out.println(row.text()));
        if (write) {
          results.keep(measured);
        }
      });
      if (!write) {
        return;
      }
    }
    results.write();
  }

  /** Runs groups, and tells what each has given. */
  static List<Measured> run(Scale scale, List<String> groups, Consumer<Measured> told)
      throws Exception {
    Path folder = Files.createTempDirectory("holdfast-bench");
    try {
      List<Measured> all = new ArrayList<>();
      for (String group : groups) {
        Measured measured = Groups.run(group, scale, folder);
        if (!measured.rows().isEmpty()) {
          told.accept(measured);
          all.add(measured);
        }
      }
      return all;
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
