// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.sql.MariaServer;
import io.holdfast.testkit.sql.MySqlServer;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Settings of servers and drivers that change what a statement does, or what it says it did. */
@Tag("stores")
class SqlSettingsTest {
  private static final int CYCLES = 60;

  /** Makes a server. */
  private interface Maker {
    SqlServer make();
  }

  static Stream<Arguments> settings() {
    return Stream.of(
        of(
            "PostgreSQL, serializable",
            () -> PostgresServer.with("default_transaction_isolation=serializable")),
        of(
            "PostgreSQL, repeatable read",
            () -> PostgresServer.with("default_transaction_isolation=repeatable read")),
        of(
            "MariaDB, all assignments at once",
            () -> MariaServer.with("--sql-mode=STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT")),
        of("MariaDB, serializable", () -> MariaServer.with("--transaction-isolation=SERIALIZABLE")),
        of("MariaDB, affected rows", MariaServer::with, "useAffectedRows=true"),
        of(
            "MariaDB, all assignments at once, serializable",
            () -> MariaServer.with(
                "--sql-mode=STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT",
                "--transaction-isolation=SERIALIZABLE")),
        of("MariaDB, found rows", MariaServer::with, "useAffectedRows=false"),
        of("MySQL, found rows", MySqlServer::with, "useAffectedRows=false"),
        of(
            "MySQL, found rows, repeatable read",
            () -> MySqlServer.with("--transaction-isolation=REPEATABLE-READ"),
            "useAffectedRows=false"),
        of("MySQL, no strict mode", () -> MySqlServer.with("--sql-mode=")),
        of("MySQL, affected rows", MySqlServer::with, "useAffectedRows=true"),
        of("MySQL, serializable", () -> MySqlServer.with("--transaction-isolation=SERIALIZABLE")));
  }

  private static Arguments of(String name, Maker maker, String... parameters) {
    return Arguments.of(name, maker, parameters);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("settings")
  void everyVerb_saysWhatItDid(String name, Object maker, String[] parameters) {
    List<String> all = new ArrayList<>(List.of(parameters));
    // so that the word that somebody waits lasts for eight seconds
    all.add("holdfast.poll=1s");
    String[] with = all.toArray(String[]::new);
    try (SqlServer server = ((Maker) maker).make();
        Client a = new Client(SqlUnderTest.uri(server, with), Ticker.system()).connect();
        Client b = new Client(SqlUnderTest.uri(server, with), Ticker.system()).connect()) {
      for (boolean fair : new boolean[] {false, true}) {
        Claim mine = a.claim("x" + fair, Client.LEASE, fair);
        Claim theirs = b.claim("x" + fair, Client.LEASE, fair);
        Grant grant = a.granted(mine);
        assertThat(a.granted(mine).revision()).isEqualTo(grant.revision());
        assertThat(a.granted(mine).revision()).isEqualTo(grant.revision());
        assertThat(b.busy(theirs).queued()).isEqualTo(fair);
        assertThat(b.busy(theirs).queued()).isEqualTo(fair);
        Grant kept = ((Kept.Held) a.keep(mine)).grant();
        assertThat(kept.revision()).isEqualTo(grant.revision());
        assertThat(kept.othersWait()).isTrue();
        assertThat(a.end(mine).othersWait()).isTrue();
        Grant next = b.granted(theirs);
        assertThat(next.revision()).isGreaterThan(grant.revision());
        assertThat(next.othersWait()).isFalse();
      }
      contend(a, b);
    }
  }

  /** Four at once on one lock: each grant excludes the others, and has a greater revision than the one before. */
  private static void contend(Client a, Client b) {
    List<Long> revisions = new ArrayList<>();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (Client client : List.of(a, b, a, b)) {
      all.add(CompletableFuture.runAsync(() -> {
        for (int i = 0; i < CYCLES; i++) {
          Claim claim = client.claim("contended");
          Answer answer = client.attempt(claim, Mode.TRY);
          while (!(answer instanceof Answer.Granted)) {
            answer = client.attempt(claim, Mode.TRY);
          }
          synchronized (revisions) {
            revisions.add(((Answer.Granted) answer).grant().revision());
          }
          client.end(claim);
        }
      }));
    }
    all.forEach(CompletableFuture::join);
    assertThat(revisions).hasSize(4 * CYCLES).isSorted().doesNotHaveDuplicates();
  }
}
