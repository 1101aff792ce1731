// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which charts there are of what was measured, and what they show. */
final class Charts {
  /** The chart that both READMEs show, by the language. */
  static final String UNCONTENDED = "uncontended.svg";

  static final String UNCONTENDED_CHINESE = "uncontended.zh-CN.svg";

  /** What has to be said where threads of one process want one lock. */
  static final String WITHIN =
      "Threads of one process pass a lock on among themselves, for a bounded time and without asking"
          + " the store: where several threads of a process want one lock, most of Holdfast's"
          + " hand-overs stay within the process.";

  private static final String CYCLES = "cycles per second";
  private static final String SPREAD = ", logarithmic; dot: median, line: least to greatest trial";
  private static final String BEST = "best other lock";
  /** Rates that differ by more than this cannot all be told from zero on a linear axis. */
  private static final double WIDE = 10;

  private static final double LEAST_MILLIS = 0.001;

  /** What is read from the waits of a contender, and its name. */
  private static final Map<String, String> WAITS = new LinkedHashMap<>();

  static {
    WAITS.put("p50 ms", "median");
    WAITS.put("p99 ms", "99 of 100 are shorter");
    WAITS.put("max ms", "longest");
  }

  /**
   * A file and what is in it.
   *
   * @param file its name
   * @param title what it shows
   * @param svg the chart
   * @param note a sentence to stand under it, or nothing
   */
  record Chart(String file, String title, String svg, String note) {
    Chart(String file, Plot plot, String note) {
      this(file, plot.title(), plot.svg(), note);
    }
  }

  private Charts() {}

  /** The charts of one group. */
  static List<Chart> of(Measured measured) {
    String group = measured.group();
    List<Row> rates = measured.rows().stream()
        .filter(row -> row.workload().unit() == Unit.PER_SECOND && row.size() == 0)
        .filter(row -> row.store().equals(measured.rows().get(0).store()))
        .toList();
    List<Chart> charts = new ArrayList<>();
    if (rates.stream().anyMatch(row -> row.figures().size() > 1)) {
      String title = rates.get(0).store() + ": "
          + (rates.size() == 1 ? rates.get(0).workload().english(0) : "acquire and release");
      charts.add(new Chart(group + "-throughput.svg", rates(title, rates), note(rates)));
    }
    for (Row row : measured.rows()) {
      if (row.workload() == Workload.HAND_OVER) {
        charts.add(new Chart(
            group + "-hand-over.svg",
            waits(row, "from a release in one process to the grant in another"),
            ""));
      } else if (row.workload() == Workload.PROCESSES) {
        charts.add(new Chart(
            group + "-waits.svg",
            waits(row, "waits of 4 processes of 4 threads, one lock"),
            WITHIN));
      }
    }
    growth(measured, Workload.WAITERS, "-waiters.svg", "threads of 1 to 4 processes, one lock")
        .ifPresent(charts::add);
    growth(measured, Workload.LOCKS, "-locks.svg", "16 threads of one process, 1 to 256 locks")
        .ifPresent(charts::add);
    return charts;
  }

  private static Optional<Chart> growth(
      Measured measured, Workload workload, String file, String title) {
    List<Row> rows =
        measured.rows().stream().filter(row -> row.workload() == workload).toList();
    return rows.isEmpty()
        ? Optional.empty()
        : Optional.of(new Chart(
            measured.group() + file, rates(rows.get(0).store() + ": " + title, rows), WITHIN));
  }

  private static String note(List<Row> rows) {
    return rows.stream()
            .anyMatch(
                row -> row.workload() == Workload.SHARED || row.workload() == Workload.PROCESSES)
        ? WITHIN
        : "";
  }

  /** A group of rows for each workload, and in it a row for each contender. */
  private static Plot rates(String title, List<Row> rows) {
    List<Plot.Group> groups = rows.stream()
        .map(row -> new Plot.Group(
            row.workload().english(row.size()),
            row.figures().stream()
                .sorted(Comparator.comparing(Figure::role))
                .map(figure -> mark(figure, figure.who(), " /s"))
                .toList()))
        .toList();
    boolean wide = greatest(rows) > WIDE * least(rows);
    return new Plot(
        title, wide ? CYCLES + SPREAD : CYCLES, legend("another lock"), wide, Text::tick, groups);
  }

  private static double least(List<Row> rows) {
    return rows.stream()
        .flatMap(row -> row.figures().stream())
        .mapToDouble(Figure::median)
        .min()
        .orElse(1);
  }

  private static double greatest(List<Row> rows) {
    return rows.stream()
        .flatMap(row -> row.figures().stream())
        .mapToDouble(Figure::median)
        .max()
        .orElse(1);
  }

  private static Plot waits(Row row, String what) {
    List<Plot.Group> groups = new ArrayList<>();
    WAITS.forEach((part, name) -> {
      List<Plot.Mark> marks = row.figures().stream()
          .filter(figure -> figure.beside().containsKey(part))
          .sorted(Comparator.comparing(Figure::role))
          .map(figure -> wait(figure, figure.beside(part)))
          .toList();
      if (!marks.isEmpty()) {
        groups.add(new Plot.Group(name, marks));
      }
    });
    return new Plot(
        row.store() + ": " + what,
        "milliseconds, logarithmic",
        legend("another lock"),
        true,
        Text::tick,
        groups);
  }

  /** Nothing and next to nothing are not told from each other. */
  private static Plot.Mark wait(Figure figure, double millis) {
    double shown = Math.max(LEAST_MILLIS, millis);
    String text = millis < 0.01 ? "< 0.01 ms" : Text.number(millis) + " ms";
    return new Plot.Mark(figure.who(), figure.role(), shown, shown, shown, text);
  }

  private static Plot.Mark mark(Figure figure, String name, String sign) {
    return new Plot.Mark(
        name,
        figure.role(),
        figure.median(),
        figure.least(),
        figure.greatest(),
        Text.number(figure.median()) + sign);
  }

  private static Map<Role, String> legend(String other) {
    return Map.of(
        Role.OURS,
        Peers.US,
        Role.PEER,
        other,
        Role.BARE,
        "our requests without the engine",
        Role.FLOOR,
        "floor: the plainest pair of requests");
  }

  /** The charts of all stores. */
  static List<Chart> main(List<Measured> all) {
    List<Chart> charts = new ArrayList<>();
    share(all, UNCONTENDED, false).ifPresent(charts::add);
    share(all, UNCONTENDED_CHINESE, true).ifPresent(charts::add);
    stores(all, Workload.HAND_OVER, " ms")
        .map(groups -> new Chart(
            "hand-over.svg",
            new Plot(
                "From a release in one process to the grant in another",
                Unit.MILLIS.words() + SPREAD,
                legend(BEST),
                true,
                Text::tick,
                groups),
            ""))
        .ifPresent(charts::add);
    stores(all, Workload.SHARED, " /s")
        .map(groups -> new Chart(
            "one-lock.svg",
            new Plot(
                "16 threads of one process, one lock",
                CYCLES + SPREAD,
                legend(BEST),
                true,
                Text::tick,
                groups),
            WITHIN))
        .ifPresent(charts::add);
    return charts;
  }

  /** One thread's rate in parts of the floor's: bars that can be compared from store to store. */
  private static Optional<Chart> share(List<Measured> all, String file, boolean chinese) {
    List<Plot.Group> groups = new ArrayList<>();
    for (String store : Measured.stores(all)) {
      Measured.find(all, store, Workload.UNCONTENDED)
          .ifPresent(row -> row.best(Role.FLOOR)
              .filter(floor -> floor.median() > 0)
              .ifPresent(floor -> {
                List<Plot.Mark> marks = new ArrayList<>(List.of(part(row.ours(), floor)));
                row.best(Role.PEER).ifPresent(peer -> marks.add(part(peer, floor)));
                groups.add(new Plot.Group(store, marks));
              }));
    }
    if (groups.isEmpty()) {
      return Optional.empty();
    }
    Plot plot = new Plot(
        chinese ? "单线程加锁解锁，无竞争" : "One thread, a free lock: acquire and release",
        chinese
            ? "占下限的百分比：下限（100 %）是同一客户端完成此事所需的最简单的两个请求"
            : "in % of what the plainest pair of requests reaches through the same client (100 %)",
        Map.of(Role.OURS, Peers.US, Role.PEER, chinese ? "其他锁中最快的" : BEST),
        false,
        value -> Text.of("%.0f %%", value),
        groups);
    return Optional.of(new Chart(file, plot, ""));
  }

  private static Plot.Mark part(Figure figure, Figure floor) {
    double percent = figure.median() / floor.median() * 100;
    return new Plot.Mark(
        figure.who(),
        figure.role(),
        percent,
        percent,
        percent,
        Text.of("%s /s (%.0f %%)", Text.number(figure.median()), percent));
  }

  /** Each store's rows: Holdfast and the best of the others. */
  private static Optional<List<Plot.Group>> stores(
      List<Measured> all, Workload workload, String sign) {
    List<Plot.Group> groups = new ArrayList<>();
    for (String store : Measured.stores(all)) {
      Measured.find(all, store, workload).ifPresent(row -> {
        List<Plot.Mark> marks = new ArrayList<>(List.of(mark(row.ours(), Peers.US, sign)));
        row.best(Role.PEER).ifPresent(peer -> marks.add(mark(peer, peer.who(), sign)));
        groups.add(new Plot.Group(store, marks));
      });
    }
    return groups.isEmpty() ? Optional.empty() : Optional.of(groups);
  }
}
