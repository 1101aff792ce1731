// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.sql.SqlKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bench runs, all of it; how fast, no test says. */
class BenchTest {
  /** What nobody runs stops working. */
  @Test
  void everyRow_isMeasuredAndExcludes() throws Exception {
    List<Row> told = new ArrayList<>();
    List<Row> rows = Bench.run(Scale.SMOKE, told::add);
    boolean redis = ServerProcess.isThere("redis-server");
    int sql = (int) Arrays.stream(SqlKind.values()).filter(SqlKind::isThere).count();
    int etcd = ServerProcess.isThere("etcd") ? 1 : 0;
    int consul = ServerProcess.isThere("consul") ? 1 : 0;
    // ZooKeeper is there wherever the bench is
    assertThat(rows)
        .hasSize((redis ? 18 : 7) + 6 * sql + 5 * etcd + 5 * consul + 5)
        .isEqualTo(told);
    assertThat(rows)
        .filteredOn(row -> row.measured().contains("violations"))
        .hasSize((redis ? 3 : 2) + sql + etcd + 2 * consul + 1)
        .allMatch(row -> row.measured().endsWith("violations 0"));
    assertThat(rows)
        .filteredOn(row -> row.measured().contains("lost"))
        .hasSize(redis ? 2 : 1)
        .allMatch(row -> row.measured().endsWith("lost 0"));
  }

  /** The table replaces the one before, and nothing else. */
  @Test
  void report_staysBetweenTheMarks(@TempDir Path root) throws Exception {
    for (String file : List.of("README.md", "README.zh-CN.md")) {
      Files.writeString(
          root.resolve(file), "before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n");
    }
    Row row = new Row("name", "名", "measured", "bar", "value", true, 0.5);
    new Report(List.of(row), new Machine("c0ffee", Scale.SMOKE)).write(root);
    assertThat(Files.readString(root.resolve("README.md")))
        .startsWith("before\n<!-- bench -->\n| What |")
        .contains("| name | measured | bar | value | met | 0.5 |\n<!-- /bench -->")
        .endsWith("\nafter\n")
        .doesNotContain("old");
    assertThat(Files.readString(root.resolve("README.zh-CN.md"))).contains("| 名 | measured |");
    assertThat(Files.readString(root.resolve("docs/benchmarks/foundation.json")))
        .contains("\"met\": true");
  }

  /** A percentile is at most one bucket too high, and never above the maximum. */
  @Test
  void waits_areCountedWithinASixteenth() {
    Waits waits = new Waits();
    for (int i = 1; i <= 1000; i++) {
      waits.add(i * 1000L);
    }
    assertThat(waits.micros(0.5)).isBetween(500.0, 532.0);
    assertThat(waits.micros(0.99)).isBetween(990.0, 1000.0);
    assertThat(waits.maxMicros()).isEqualTo(1000);
  }
}
