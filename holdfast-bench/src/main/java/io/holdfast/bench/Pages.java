// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes Markdown: a page for each group, one for all, and a part of the READMEs. */
final class Pages {
  private static final String MADE = """
      Made by `dev/bench --write`, with default options. Each figure is the median of several trials, \
      with the least and the greatest in brackets. The locks take turns, one trial each. Warm-up \
      trials come first and do not count; each group's page says how many. Compare ratios and order, \
      not digits.

      *Load* is the machine's load average at the end of a row: above one or two, other work ran on \
      the machine, too. The *floor* is the rate of the two plainest requests that could do the job, \
      through the same client: not a usable lock, but a limit for one. *Ahead* names the faster one, \
      Holdfast or the best other lock; in bold if it is not Holdfast. *Bars* are the project's goals, \
      and whether they were met.
      """;

  private Pages() {}

  /** The page of a group. */
  static String group(Measured measured, List<Charts.Chart> charts) {
    StringBuilder page =
        new StringBuilder("# Benchmarks: ").append(measured.group()).append("\n\n");
    page.append(MADE).append('\n');
    measured.about().forEach(line -> page.append("* ").append(line).append('\n'));
    page.append(Text.of(
        "* load average before and after: %.1f, %.1f%n",
        measured.loadBefore(), measured.loadAfter()));
    charts.forEach(chart -> page.append(picture(chart)));
    page.append("\n## Ahead, and the bars\n\n").append(summary(List.of(measured)));
    for (Row row : measured.rows()) {
      page.append(Text.of("%n## %s: %s%n%n", row.store(), row.workload().english(row.size())));
      page.append(figures(row));
    }
    return page.toString();
  }

  private static String figures(Row row) {
    Set<String> beside = new LinkedHashSet<>();
    row.figures().forEach(figure -> beside.addAll(figure.beside().keySet()));
    boolean notes = row.figures().stream().anyMatch(figure -> !figure.note().isEmpty());
    List<String> head =
        new ArrayList<>(List.of("Contender", row.workload().unit().words()));
    head.addAll(beside);
    head.add("Holdfast is better by");
    if (notes) {
      head.add("");
    }
    StringBuilder table = new StringBuilder(line(head)).append("|---".repeat(head.size()) + "|\n");
    for (Figure figure : row.figures()) {
      List<String> cells = new ArrayList<>(List.of(figure.who(), figure.spread()));
      for (String name : beside) {
        Double value = figure.beside().get(name);
        cells.add(value == null ? "–" : Text.number(value));
      }
      cells.add(
          figure.role() == Role.OURS
              ? ""
              : Text.of(
                  "%.2f", row.workload().unit().better(row.ours().median(), figure.median())));
      if (notes) {
        cells.add(figure.note());
      }
      table.append(line(cells));
    }
    return table.toString();
  }

  /** One line for each row: who is ahead, and what of the bars. */
  private static String summary(List<Measured> all) {
    StringBuilder table = new StringBuilder(
        line(List.of("What", "Holdfast", "Floor", "Best other lock", "Ahead", "Bars", "Load"))
            + "|---|---|---|---|---|---|---|\n");
    for (Measured measured : all) {
      for (Row row : measured.rows()) {
        String sign = " " + row.workload().unit().sign();
        table.append(line(List.of(
            row.store() + ": " + row.workload().english(row.size()),
            row.ours().spread() + sign,
            row.best(Role.FLOOR).map(each -> each.spread() + sign).orElse("–"),
            row.best(Role.PEER)
                .map(each -> each.who() + " " + each.spread() + sign)
                .orElse("–"),
            row.winner(),
            bars(row),
            Text.of("%.1f", row.load()))));
      }
    }
    return table.toString();
  }

  private static String bars(Row row) {
    List<String> bars = new ArrayList<>();
    for (Bar bar : row.bars()) {
      bars.add(bar.what() + " " + bar.wanted() + ": " + bar.reached() + ", "
          + (bar.met() ? "met" : "**missed**"));
    }
    if (row.violations() > 0) {
      bars.add(Text.of("**%.0f violations**", row.violations()));
    }
    return bars.isEmpty() ? "–" : String.join("; ", bars);
  }

  /** A chart, and the sentence under it. */
  private static String picture(Charts.Chart chart) {
    return Text.of("%n![%s](%s)%n", chart.title(), chart.file())
        + (chart.note().isEmpty() ? "" : Text.of("%n%s%n", chart.note()));
  }

  /** The page of all. */
  static String index(List<Measured> all, List<Charts.Chart> charts) {
    StringBuilder page = new StringBuilder("# Benchmarks: Holdfast and other locks\n\n");
    page.append(MADE);
    charts.stream()
        .filter(chart -> !chart.file().equals(Charts.UNCONTENDED_CHINESE))
        .forEach(chart -> page.append(picture(chart)));
    page.append("\n## Where another lock is ahead\n\n").append(behind(all));
    page.append("\n## All that was measured\n\n");
    for (Measured measured : all) {
      page.append(Text.of(
          "* [%s](%s.md), [%s.json](%s.json): %s%n",
          measured.group(),
          measured.group(),
          measured.group(),
          measured.group(),
          measured.about().stream().filter(Machine::tellsRuns).collect(Collectors.joining("; "))));
    }
    double violations = all.stream()
        .flatMap(measured -> measured.rows().stream())
        .mapToDouble(Row::violations)
        .sum();
    page.append(Text.of(
        "%nViolations of exclusion that were seen, of all locks together: %.0f.%n%n", violations));
    return page.append(summary(all)).toString();
  }

  /** The rows where another lock is ahead of ours. */
  private static String behind(List<Measured> all) {
    StringBuilder lines = new StringBuilder();
    for (Measured measured : all) {
      for (Row row : measured.rows()) {
        if (row.isBehind()) {
          Figure peer = row.best(Role.PEER).orElseThrow();
          String sign = " " + row.workload().unit().sign();
          lines.append(Text.of(
              "* %s, %s: **%s** %s, Holdfast %s%n",
              row.store(),
              row.workload().english(row.size()),
              peer.who(),
              Text.number(peer.median()) + sign,
              Text.number(row.ours().median()) + sign));
        }
      }
    }
    return lines.isEmpty() ? "Nowhere.\n" : lines.toString();
  }

  /** The part of a README: a chart, a line for each store, and what threads of one process reach. */
  static String readme(List<Measured> all, boolean chinese) {
    StringBuilder part = new StringBuilder(Text.of(
        "![%s](docs/benchmarks/%s)%n%n",
        chinese
            ? "单线程加锁解锁，无竞争：Holdfast 与其他锁中最快的"
            : "One thread, a free lock: Holdfast beside the best other lock",
        chinese ? Charts.UNCONTENDED_CHINESE : Charts.UNCONTENDED));
    List<String> head = chinese
        ? List.of(
            "存储",
            "每秒加锁解锁次数（单线程，无竞争）：**Holdfast**",
            "每秒加锁解锁次数：其他锁中最快的",
            "进程间交接锁的耗时：**Holdfast**",
            "交接耗时：其他锁中最快的")
        : List.of(
            "Store",
            "Cycles a second, one thread: **Holdfast**",
            "Cycles a second: best other lock",
            "Hand-over between processes: **Holdfast**",
            "Hand-over: best other lock");
    part.append(line(head)).append("|---".repeat(head.size()) + "|\n");
    for (String store : Measured.stores(all)) {
      List<String> cells = new ArrayList<>(List.of(store));
      for (Workload workload : List.of(Workload.UNCONTENDED, Workload.HAND_OVER)) {
        Optional<Row> row = Measured.find(all, store, workload);
        cells.add(row.map(Pages::ours).orElse("–"));
        cells.add(row.flatMap(Pages::bestOther).orElse("–"));
      }
      part.append(line(cells));
    }
    return part.append(within(all, chinese)).toString();
  }

  private static String ours(Row row) {
    return Text.number(row.ours().median()) + " " + row.workload().unit().sign();
  }

  /** In bold where it is ahead of ours. */
  private static Optional<String> bestOther(Row row) {
    return row.best(Role.PEER).map(peer -> {
      String figure = Text.number(peer.median()) + " " + row.workload().unit().sign();
      return peer.who() + " " + (row.isBehind() ? "**" + figure + "**" : figure);
    });
  }

  /** How many hand-overs within a process there are, from the store with the fewest to the one with the most. */
  private static String within(List<Measured> all, boolean chinese) {
    List<Row> rows = Measured.stores(all).stream()
        .flatMap(store -> Measured.find(all, store, Workload.SHARED).stream())
        .sorted(Comparator.comparingDouble(row -> row.ours().median()))
        .toList();
    String page = "docs/benchmarks/README.md";
    if (rows.isEmpty()) {
      return Text.of(chinese ? "%n[全部数据（英文）](%s)%n" : "%n[All that was measured](%s)%n", page);
    }
    Row least = rows.get(0);
    Row most = rows.get(rows.size() - 1);
    return Text.of(
        chinese
            ? "%n加粗的数字是其他锁领先之处。同一进程内的线程直接相互交接锁，无须询问存储：16 个线程争用一把锁时，每秒可交接 %s 次（%s）到 %s 次（%s）。[全部数据（英文）](%s)%n"
            : "%nWhere another lock is ahead, its figure is bold. Threads of one process pass the lock on among themselves without asking the store, and so 16 threads"
                + " that want one lock reach from %s (%s) to %s (%s) hand-overs a second. [All that was measured](%s)%n",
        Text.number(least.ours().median()),
        least.store(),
        Text.number(most.ours().median()),
        most.store(),
        page);
  }

  /** The part of the page that helps to choose: what a cycle and a hand-over take on each store. */
  static String choosing(List<Measured> all) {
    StringBuilder part = new StringBuilder(line(List.of(
            "Store", "Cycles a second", "Share of the rate of two bare requests", "A hand-over"))
        + "|---|---|---|---|\n");
    for (String store : Measured.stores(all)) {
      Optional<Row> cycle = Measured.find(all, store, Workload.UNCONTENDED);
      part.append(line(List.of(
          store,
          cycle.map(row -> Text.number(row.ours().median())).orElse("–"),
          cycle
              .flatMap(row -> row.best(Role.FLOOR)
                  .map(floor -> Text.of("%.2f", row.ours().median() / floor.median())))
              .orElse("–"),
          Measured.find(all, store, Workload.HAND_OVER)
              .map(row -> Text.number(row.ours().median()) + " ms")
              .orElse("–"))));
    }
    return part.toString();
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }
}
