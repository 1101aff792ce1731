// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Writes what was measured where people read it. */
final class Report {
  private static final String BEGIN = "<!-- bench -->\n";
  private static final String END = "<!-- /bench -->";

  private final List<Row> rows;
  private final Machine machine;

  Report(List<Row> rows, Machine machine) {
    this.rows = List.copyOf(rows);
    this.machine = machine;
  }

  String english() {
    return table("| What | Measured | Bar | Value | | Load |", Row::name, Row::verdict);
  }

  private String chinese() {
    return table("| 项目 | 测得 | 标准 | 值 | | 负载 |", Row::chinese, row -> row.met() ? "达到" : "未达到");
  }

  private String table(String head, Function<Row, String> name, Function<Row, String> verdict) {
    return head + "\n|---|---|---|---|---|---|\n"
        + rows.stream()
            .map(row -> "| " + name.apply(row) + " | " + row.measured() + " | " + row.bar() + " | "
                + row.value() + " | " + verdict.apply(row) + " | "
                + Row.text("%.1f", row.load()) + " |\n")
            .collect(Collectors.joining());
  }

  /** Replaces the table between the marks, in both languages, and keeps the run beside the documents. */
  void write(Path root) throws IOException {
    replace(root.resolve("README.md"), english());
    replace(root.resolve("README.zh-CN.md"), chinese());
    Path folder = Files.createDirectories(root.resolve("docs").resolve("benchmarks"));
    Files.writeString(folder.resolve("foundation.md"), document());
    Files.writeString(folder.resolve("foundation.json"), json());
  }

  private static void replace(Path file, String table) throws IOException {
    String text = Files.readString(file);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException(file.getFileName() + " has no marks for the table");
    }
    Files.writeString(
        file, text.substring(0, begin + BEGIN.length()) + table + text.substring(end));
  }

  private String document() {
    return "# The foundation, measured\n\n"
        + "Made by `dev/bench --readme`. Default options; medians of interleaved trials, with the least and the greatest in brackets.\n"
        + "Take ratios and order, not digits. Load is the machine's load average at the end of a row: what is above zero or one was not ours alone.\n\n"
        + english() + "\n"
        + machine.lines().map(line -> "* " + line + "\n").collect(Collectors.joining());
  }

  private String json() {
    String all = rows.stream()
        .map(row -> Row.text(
            "    {\"name\": \"%s\", \"measured\": \"%s\", \"bar\": \"%s\", \"value\": \"%s\", \"met\": %b, \"load\": %.1f}",
            row.name(), row.measured(), row.bar(), row.value(), row.met(), row.load()))
        .collect(Collectors.joining(",\n"));
    String about =
        machine.lines().map(line -> "\"" + line + "\"").collect(Collectors.joining(", "));
    return "{\n  \"machine\": [" + about + "],\n  \"rows\": [\n" + all + "\n  ]\n}\n";
  }
}
