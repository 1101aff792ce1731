// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The SQL of docs/schemes.md, which is for two consoles: each line has the effect that stands behind it. */
@Tag("stores")
class SchemesSqlTest {
  private static final Path PAGE = Path.of("..", "docs", "schemes.md");
  private static final Pattern BLOCK = Pattern.compile("(?s)```sql\n(.*?)```");
  private static final Pattern LINE =
      Pattern.compile("/\\* ([AB]) \\*/ (.*;) +-- (done|error|waits|\\d+ rows?|reads \\w+)\\b.*");
  private static final Pattern TABLE = Pattern.compile("CREATE TABLE (\\w+)");
  private static final String WAITING_ON_POSTGRESQL =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%scheme_%'";
  /** A statement that is being executed. What InnoDB says of its waits, it says anew only if it was not asked for a while. */
  private static final String WAITING_ON_MYSQL =
      "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'updating' AND info LIKE 'UPDATE scheme_%'";

  /** What a console shows for a statement. */
  private static String shown(Connection console, String sql) {
    try (Statement statement = console.createStatement()) {
      if (!statement.execute(sql)) {
        int rows = statement.getUpdateCount();
        return sql.matches("(?i)(insert|update|delete).*")
            ? rows + (rows == 1 ? " row" : " rows")
            : "done";
      }
      try (ResultSet rows = statement.getResultSet()) {
        return rows.next() ? "reads " + rows.getString(1) : "reads nothing";
      }
    } catch (SQLException e) {
      return "error";
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachLine_hasTheEffectThatThePageSays(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    List<String> blocks = BLOCK
        .matcher(Files.readString(PAGE))
        .results()
        .map(found -> found.group(1))
        .toList();
    assertThat(blocks).hasSizeGreaterThan(5);
    for (String block : blocks) {
      List<String> tables =
          TABLE.matcher(block).results().map(found -> found.group(1)).toList();
      tables.forEach(table -> server.execute("DROP TABLE IF EXISTS " + table));
      try (Connection a = server.connect();
          Connection b = server.connect()) {
        replay(block, a, b, server, kind);
      } finally {
        tables.forEach(table -> server.execute("DROP TABLE IF EXISTS " + table));
      }
    }
  }

  private static void replay(
      String block, Connection a, Connection b, SqlServer server, SqlKind kind) throws IOException {
    List<CompletableFuture<String>> waiting = new ArrayList<>();
    List<String> wrong = new ArrayList<>();
    for (String line : block.lines().toList()) {
      Matcher parts = LINE.matcher(line);
      assertThat(parts.matches())
          .as("a console, a statement and its effect: %s", line)
          .isTrue();
      Connection connection = parts.group(1).equals("A") ? a : b;
      if (parts.group(3).equals("waits")) {
        waiting.add(CompletableFuture.supplyAsync(() -> shown(connection, parts.group(2))));
        Await.until(
            line, () -> !server.query(waits(kind)).equals(List.of("0")), () -> "it does not wait");
        continue;
      }
      if (parts.group(2).equals("COMMIT;")) {
        assertThat(waiting).as(line).noneMatch(CompletableFuture::isDone);
      }
      String shown = shown(connection, parts.group(2));
      if (!shown.equals(parts.group(3))) {
        wrong.add(line + " -> " + shown);
      }
      if (parts.group(2).equals("COMMIT;")) {
        assertThat(waiting).allMatch(each -> each.join().equals("1 row"));
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static String waits(SqlKind kind) {
    return kind == SqlKind.POSTGRESQL ? WAITING_ON_POSTGRESQL : WAITING_ON_MYSQL;
  }
}
