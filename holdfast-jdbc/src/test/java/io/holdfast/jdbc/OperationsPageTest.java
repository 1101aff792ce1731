// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The SQL that the page for operators shows is SQL that the servers understand, and says what the page says. */
@Tag("stores")
class OperationsPageTest {
  /** Surefire starts tests in their module's folder. */
  static final Path PAGE = Path.of("..", "docs", "operations.md");

  /** The revision that the page shows, in place of the one that an operator has seen. */
  private static final String SEEN = "1795330361180113";

  private static final LockOptions FAIR =
      LockOptions.builder().fair(true).note("the next one").build();

  @Timeout(120)
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void thePagesSql_showsTheHolderAndEndsTheHoldThatWasSeen(SqlKind kind) throws Exception {
    SqlServer server = kind.shared();
    server.emptyTables();
    List<String> queries = statements(kind, "SELECT");
    assertThat(queries).hasSize(4);
    try (Holdfast holder = SqlUnderTest.patient(server.storeUri()).build();
        Holdfast next = SqlUnderTest.patient(server.storeUri()).build()) {
      DistributedLock lock = holder.lock("nightly");
      Hold hold = lock.acquire();
      LockInfo seen = holder.admin().inspect("nightly").orElseThrow();
      CompletableFuture<Hold> waiting = next.lock("nightly", FAIR).acquireAsync();
      while (next.admin().inspect("nightly").orElseThrow().waiters().known() == 0) {
        Thread.onSpinWait();
      }
      assertThat(server.query(queries.get(0))).containsExactly("nightly"); // holds
      assertThat(server.query(queries.get(1))).containsExactly("nightly"); // waits in line
      assertThat(server.query(queries.get(2)))
          .isSubsetOf("nightly"); // is wanted, while that word lasts
      assertThat(server.query(queries.get(3))).containsExactly("nightly"); // was granted
      String force =
          statements(kind, "UPDATE").get(0).replace(SEEN, Long.toString(seen.token() >> 8));
      server.execute(force);
      try (Hold after = waiting.get(20, TimeUnit.SECONDS)) {
        assertThat(after.token()).isGreaterThan(hold.token());
        server.execute(force); // is about a grant that has ended, and changes nothing
        assertThat(next.admin().inspect("nightly").orElseThrow().token()).isEqualTo(after.token());
      }
    }
  }

  /** Those of the page that are for a kind of server, in their order. */
  static List<String> statements(SqlKind kind, String verb) throws IOException {
    String language = kind == SqlKind.POSTGRESQL ? "postgresql" : "mysql";
    List<String> found = new ArrayList<>();
    Pattern.compile("(?s)```sql " + language + "\n(.*?)```")
        .matcher(Files.readString(PAGE))
        .results()
        .map((MatchResult block) -> block.group(1))
        .flatMap(block -> List.of(block.split(";")).stream())
        .map(String::strip)
        .filter(statement -> statement.startsWith(verb))
        .forEach(found::add);
    return found;
  }
}
