// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.measure.Samples;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bench runs, all of it; how fast, no test says. */
@Tag("all")
class BenchTest {
  private static final List<String> WRITTEN_INTO =
      List.of("README.md", "README.zh-CN.md", "docs/choosing.md");

  @TempDir
  Path root;

  /** What nobody runs stops working. */
  @Test
  void everyRow_isMeasuredAndExcludes() throws Exception {
    List<Measured> told = new ArrayList<>();
    List<Measured> all = Bench.run(Scale.SMOKE, Groups.names(), told::add);
    assertThat(all).isEqualTo(told);
    assertThat(all)
        .extracting(Measured::group)
        .containsExactlyElementsOf(
            Groups.names().stream().filter(BenchTest::isThere).toList());
    List<Row> rows = all.stream().flatMap(each -> each.rows().stream()).toList();
    for (String store : Measured.stores(all)) {
      assertThat(Measured.find(all, store, Workload.UNCONTENDED)).as(store).isPresent();
      if (store.equals("Redlock")) {
        continue;
      }
      assertThat(Measured.find(all, store, Workload.SHARED)).as(store).isPresent();
      if (!List.of("memory", "SQLite").contains(store)) {
        assertThat(Stream.of(Workload.SEPARATE, Workload.PROCESSES, Workload.HAND_OVER))
            .as(store)
            .allMatch(workload -> Measured.find(all, store, workload).isPresent());
        assertThat(rows)
            .filteredOn(row -> row.store().equals(store) && row.size() > 0)
            .extracting(Row::workload)
            .as(store)
            .contains(Workload.WAITERS, Workload.LOCKS, Workload.KEPT_CPU, Workload.KEPT_HEAP);
      }
    }
    // a share of the CPU is a difference, which in so short a time may be less than nothing
    assertThat(rows)
        .filteredOn(row -> row.workload() != Workload.IDLE && row.workload() != Workload.KEPT_SHARE)
        .allSatisfy(row -> assertThat(row.ours().median()).as(row.text()).isNotNegative());
    assertThat(rows)
        .flatExtracting(Row::figures)
        .filteredOn(figure -> figure.beside().containsKey(Figure.VIOLATIONS))
        .hasSizeGreaterThan(rows.size() / 3)
        .allMatch(figure -> figure.beside(Figure.VIOLATIONS) == 0);
    assertThat(rows)
        .extracting(Row::ours)
        .filteredOn(figure -> figure.beside().containsKey(Figure.LOST))
        .isNotEmpty()
        .allMatch(figure -> figure.beside(Figure.LOST) == 0);
    // and whatever they are, they can be written down
    pagesOfOthers();
    Results results = new Results(root);
    all.forEach(results::keep);
    results.write();
    assertThat(results.read()).isEqualTo(all);
  }

  private static boolean isThere(String group) {
    return switch (group) {
      case "redis" -> ServerProcess.isThere("redis-server");
      case "etcd", "consul" -> ServerProcess.isThere(group);
      case "postgresql" -> SqlKind.POSTGRESQL.isThere();
      case "mariadb" -> SqlKind.MARIADB.isThere();
      case "mysql" -> SqlKind.MYSQL.isThere();
      // ZooKeeper is there wherever the bench is
      default -> true;
    };
  }

  private void pagesOfOthers() throws IOException {
    Files.createDirectories(root.resolve("docs"));
    for (String file : WRITTEN_INTO) {
      Files.writeString(
          root.resolve(file), "before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n");
    }
  }

  private static Row grown(String store, int size, double ours, double peer) {
    Row row = row(store, ours, peer);
    return new Row(store, Workload.WAITERS, size, row.figures(), List.of(), row.load());
  }

  private static Row row(String store, double ours, double peer) {
    return new Row(
        store,
        Workload.UNCONTENDED,
        0,
        List.of(
            Figure.of(Peers.US, new Samples(new double[] {ours - 1, ours, ours + 1})),
            Figure.of("Curator's mutex", peer),
            Figure.of(Peers.FLOOR, peer * 2)),
        List.of(Bar.atLeast(ours / peer, "Curator's mutex", 1)),
        0.5);
  }

  /** The part of a README replaces the one before, and nothing else; where a peer is ahead, that is said. */
  @Test
  void pages_sayWhoIsAhead() throws Exception {
    pagesOfOthers();
    Results results = new Results(root);
    Measured ahead =
        new Measured("redis", List.of("commit c0ffee"), 0.5, 1.5, List.of(row("Redis", 100, 50)));
    Measured behind = new Measured(
        "etcd",
        List.of("commit c0ffee"),
        0.5,
        1.5,
        List.of(row("etcd", 100, 150), grown("etcd", 4, 100, 150)));
    results.keep(ahead);
    results.keep(behind);
    Files.writeString(root.resolve("docs/benchmarks/gone.svg"), "a chart that there is no more");
    results.write();
    assertThat(results.read()).containsExactly(ahead, behind);
    assertThat(Files.readString(root.resolve("README.md")))
        .startsWith("before\n<!-- bench -->\n![")
        .contains(
            "| Redis | 100 /s | Curator's mutex 50.0 /s | – | – |\n",
            "| etcd | 100 /s | Curator's mutex **150 /s** | – | – |\n",
            "[All that was measured](docs/benchmarks/README.md)\n<!-- /bench -->")
        .endsWith("\nafter\n")
        .doesNotContain("\nold\n");
    assertThat(Files.readString(root.resolve("README.zh-CN.md")))
        .contains("| etcd | 100 /s | Curator's mutex **150 /s** | – | – |\n");
    assertThat(Files.readString(root.resolve("docs/choosing.md")))
        .startsWith("before\n")
        .contains("| Redis | 100 | 1.00 | – |\n")
        .endsWith("\nafter\n");
    Path pages = root.resolve("docs/benchmarks");
    assertThat(Files.readString(pages.resolve("redis.md")))
        .contains(
            "* commit c0ffee\n",
            "0.5, 1.5",
            "| Holdfast | 100 (99.0–101) |",
            "2.00, met",
            "(redis-throughput.svg)");
    assertThat(Files.readString(pages.resolve("README.md")))
        .contains(
            "| **Curator's mutex**, 1.50 x |",
            "0.67, **missed**",
            "(redis.json): commit c0ffee",
            "* etcd, one thread, a free lock: **Curator's mutex** 150 /s, Holdfast 100 /s\n",
            "* etcd, 4 threads of 4 processes want one lock: **Curator's mutex** 150 /s, Holdfast 100 /s\n");
    assertThat(pages.resolve("gone.svg")).doesNotExist();
  }

  /** Also one that is far behind. */
  @Test
  void aChart_showsEveryContender() {
    Measured measured = new Measured("redis", List.of(), 0, 0, List.of(row("Redis", 100_000, 2)));
    List<Charts.Chart> charts = Charts.of(measured);
    assertThat(charts).extracting(Charts.Chart::file).containsExactly("redis-throughput.svg");
    assertThat(charts.get(0).svg())
        .contains("<svg ", ">100,000 /s</text>", ">2.00 /s</text>", ">4.00 /s</text>")
        .contains("class=\"ours\"", "class=\"peer\"", "class=\"floor\"");
  }

  /** On a machine that stops for a second, a contender gets through nothing. */
  @Test
  void aChart_showsWhatIsNothing() {
    for (double ours : new double[] {0, 1000}) {
      Row row = new Row(
          "Redis",
          Workload.UNCONTENDED,
          0,
          List.of(Figure.of(Peers.US, ours), Figure.of("Redisson", 0), Figure.of(Peers.FLOOR, 0)),
          List.of(),
          0.5);
      Measured measured = new Measured("redis", List.of(), 0, 0, List.of(row));
      assertThat(Charts.of(measured).get(0).svg())
          .contains(">0 /s</text>", ">Redisson</text>")
          .doesNotContain("NaN", "Infinity");
      assertThat(Charts.main(List.of(measured))).isEmpty();
    }
  }
}
