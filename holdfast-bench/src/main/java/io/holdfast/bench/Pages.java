// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes Markdown: a page for each group, one for all, and a part of the READMEs. */
final class Pages {
  private static final String MADE = """
      Made by `dev/bench --write`. Default options everywhere; medians of trials in turns, with the \
      least and the greatest trial in brackets.
      Turns to warm up come first, for the compiler, and do not count: the page of a group says how \
      many, and until how many cycles where that takes longer.
      Take ratios and order, not digits. Load is the machine's load average at the end of a row: \
      what is above one or two was not ours alone.
      """;

  private Pages() {}

  /** The page of a group. */
  static String group(Measured measured, List<String> charts) {
    StringBuilder page =
        new StringBuilder("# Measured: ").append(measured.group()).append("\n\n");
    page.append(MADE).append('\n');
    measured.about().forEach(line -> page.append("* ").append(line).append('\n'));
    page.append(Text.of(
        "* load average before and after: %.1f, %.1f%n",
        measured.loadBefore(), measured.loadAfter()));
    for (String chart : charts) {
      page.append(Text.of("%n![%s](%s)%n", chart.replace(".svg", ""), chart));
    }
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
    List<String> head = new ArrayList<>(List.of("Who", row.workload().unit().words()));
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

  /** The page of all. */
  static String index(List<Measured> all) {
    StringBuilder page = new StringBuilder("# Measured beside the others\n\n");
    page.append(MADE)
        .append(
            "The floor is the plainest pair of requests that does the job, through the same client:"
                + " no usable lock, but what a cycle can cost.\n")
        .append(
            "*Ahead* names who is faster, Holdfast or the best of the other locks; in bold where it is not Holdfast.\n")
        .append("\n![one thread](uncontended.svg)\n\n![16 threads, one lock](one-lock.svg)\n\n");
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

  /** The part of a README: two charts, and a line for each store. */
  static String readme(List<Measured> all, boolean chinese) {
    StringBuilder part = new StringBuilder();
    part.append(Text.of(
        "![%s](docs/benchmarks/uncontended.svg)%n%n![%s](docs/benchmarks/one-lock.svg)%n%n",
        name(Workload.UNCONTENDED, chinese), name(Workload.SHARED, chinese)));
    List<Workload> shown = List.of(Workload.UNCONTENDED, Workload.SHARED, Workload.HAND_OVER);
    List<String> head = new ArrayList<>(List.of(chinese ? "存储" : "Store"));
    shown.forEach(workload -> head.add(name(workload, chinese)));
    head.add(chinese ? "其他锁领先之处" : "Where another lock is ahead");
    part.append(line(head)).append("|---".repeat(head.size()) + "|\n");
    for (String store : Measured.stores(all)) {
      List<String> cells = new ArrayList<>(List.of(store));
      shown.forEach(workload -> cells.add(
          Measured.find(all, store, workload).map(row -> cell(row, chinese)).orElse("–")));
      cells.add(behind(all, store, chinese));
      part.append(line(cells));
    }
    return part.toString();
  }

  /** The part of the page that helps to choose: what a cycle and a hand-over take on each store. */
  static String choosing(List<Measured> all) {
    StringBuilder part = new StringBuilder(
        line(List.of("Store", "Cycles a second", "Of the plainest pair's", "A hand-over"))
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

  private static String name(Workload workload, boolean chinese) {
    return chinese ? workload.chinese(0) : workload.english(0);
  }

  private static String cell(Row row, boolean chinese) {
    String sign = " " + row.workload().unit().sign();
    StringBuilder cell = new StringBuilder(Text.number(row.ours().median())).append(sign);
    Optional<Figure> floor = row.best(Role.FLOOR);
    floor.ifPresent(
        each -> cell.append(chinese ? "；下限 " : "; floor ").append(Text.number(each.median())));
    row.best(Role.PEER)
        .ifPresent(each -> cell.append(chinese ? "；" : "; ")
            .append(each.who())
            .append(' ')
            .append(Text.number(each.median())));
    return cell.toString();
  }

  private static String behind(List<Measured> all, String store, boolean chinese) {
    List<String> behind = new ArrayList<>();
    for (Measured measured : all) {
      for (Row row : measured.rows()) {
        if (row.store().equals(store) && row.isBehind()) {
          String what =
              chinese ? row.workload().chinese(row.size()) : row.workload().english(row.size());
          behind.add(what + (chinese ? "：" : ": ") + row.winner());
        }
      }
    }
    return behind.isEmpty() ? "–" : String.join(chinese ? "；" : "; ", behind);
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }
}
