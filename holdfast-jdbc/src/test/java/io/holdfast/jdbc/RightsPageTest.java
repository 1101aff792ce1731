// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rights that the page for operators grants to a user for locks are enough, and each of them is needed. */
@Tag("stores")
class RightsPageTest {
  private static final Pattern GRANT = Pattern.compile("GRANT (.+) ON (.+) TO (.+)");

  private static final LockOptions BRIEF =
      LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();
  private static final LockOptions FAIR = LockOptions.builder().fair(true).build();

  @Timeout(120)
  @ParameterizedTest
  @EnumSource
  void thePagesRights_areEnough(SqlKind kind) throws Exception {
    try (SqlServer server = kind.start()) {
      server.execute(made(kind).toArray(String[]::new));
      CountDownLatch renewed = new CountDownLatch(2);
      try (Holdfast holdfast = SqlUnderTest.patient(address(kind, server))
              .listener(event -> {
                if (event instanceof LockEvent.Renewed) {
                  renewed.countDown();
                }
              })
              .build();
          Holdfast other = SqlUnderTest.patient(address(kind, server)).build()) {
        Hold hold = holdfast.lock("nightly", BRIEF).acquire();
        assertThat(renewed.await(Await.PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
            .isTrue();
        CompletableFuture<Hold> waiting = other.lock("nightly", FAIR).acquireAsync();
        Await.until(
            "it waits in line",
            () -> other.admin().inspect("nightly").orElseThrow().waiters().known() == 1);
        assertThat(hold.release()).isTrue();
        Hold next = Await.value(waiting);
        assertThat(holdfast
                .admin()
                .forceRelease(holdfast.admin().inspect("nightly").orElseThrow()))
            .isTrue();
        next.releaseNow();
      }
      exercise(kind, server);
    }
  }

  @Timeout(300)
  @ParameterizedTest
  @EnumSource
  void withoutOneOfThem_somethingIsDenied(SqlKind kind) throws Exception {
    try (SqlServer server = kind.start()) {
      server.execute(made(kind).toArray(String[]::new));
      int rights = 0;
      for (String grant : OperationsPageTest.statements(kind, "GRANT")) {
        Matcher parts = GRANT.matcher(grant);
        assertThat(parts.matches()).as(grant).isTrue();
        for (String right : parts.group(1).split(", ", -1)) {
          server.execute("REVOKE " + right + " ON " + parts.group(2) + " FROM " + parts.group(3));
          assertThatThrownBy(() -> exercise(kind, server))
              .as("without %s on %s", right, parts.group(2))
              .hasStackTraceContaining("denied");
          server.execute(grant);
          rights++;
        }
      }
      exercise(kind, server);
      assertThat(rights).isGreaterThanOrEqualTo(10);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theTokensTable_needsTheRightsOfThePage(SqlKind kind) throws Exception {
    assertThat(Files.readString(OperationsPageTest.PAGE))
        .contains("needs `SELECT`, `INSERT` and `UPDATE` on `holdfast_fence`");
    String user = kind == SqlKind.POSTGRESQL ? "jobs" : "'jobs'@'%'";
    try (SqlServer server = kind.start()) {
      server.execute(made(kind).toArray(String[]::new));
      FencingGuard.createTable(server.dataSource());
      List<String> rights = List.of("SELECT", "INSERT", "UPDATE");
      String table =
          kind == SqlKind.POSTGRESQL ? "holdfast_fence" : SqlServer.DATABASE + ".holdfast_fence";
      for (String right : rights) {
        server.execute("GRANT " + right + " ON " + table + " TO " + user);
      }
      checkToken(server);
      for (String right : rights) {
        server.execute("REVOKE " + right + " ON " + table + " FROM " + user);
        assertThatThrownBy(() -> checkToken(server)).as(right).hasStackTraceContaining("denied");
        server.execute("GRANT " + right + " ON " + table + " TO " + user);
      }
    }
  }

  private static void checkToken(SqlServer server) throws Exception {
    try (Connection connection = server.dataSource().getConnection("jobs", "secret")) {
      connection.setAutoCommit(false);
      FencingGuard.check(connection, "account:42", 1);
      connection.commit();
    }
  }

  /** What the page has the administrator do, in its order. */
  private static List<String> made(SqlKind kind) throws IOException {
    List<String> all = new ArrayList<>(OperationsPageTest.statements(kind, "CREATE"));
    String scheme = kind == SqlKind.POSTGRESQL ? "postgresql" : "mysql";
    String printed = found("holdfast ddl --store '(jdbc:" + scheme + ":[^']+)' \\|");
    if (kind != SqlKind.POSTGRESQL) {
      all.add("USE locks"); // as the line's mysql does
    }
    try (LockStore store = new JdbcStoreFactory().open(StoreAddress.parse(printed))) {
      all.addAll(store.schema());
    }
    all.addAll(OperationsPageTest.statements(kind, "GRANT"));
    return all;
  }

  /** The page's address for the application, with this server for the host. */
  private static String address(SqlKind kind, SqlServer server) throws IOException {
    boolean postgres = kind == SqlKind.POSTGRESQL;
    String query =
        found("(?m)^jdbc:" + (postgres ? "postgresql" : "mysql") + "://[^?]+[?](user=jobs.*)$");
    String url = server.jdbcUrl(postgres ? SqlServer.DATABASE : "locks");
    return url + (url.indexOf('?') < 0 ? "?" : "&") + query;
  }

  private static String found(String pattern) throws IOException {
    Matcher line = Pattern.compile(pattern).matcher(Files.readString(OperationsPageTest.PAGE));
    assertThat(line.find()).as(pattern).isTrue();
    return line.group(1);
  }

  /** Does as the user all that the store does: what it is asked for, and the cleaning that it begins by itself. */
  private static void exercise(SqlKind kind, SqlServer server) throws IOException {
    server.execute(
        "UPDATE locks.holdfast_meta SET cleaned_us = 0",
        "DELETE FROM locks.holdfast_waiter",
        "DELETE FROM locks.holdfast_lock",
        "INSERT INTO locks.holdfast_lock (name, rev, since_us, until_us) VALUES ('old', 1, 0, 0)",
        "INSERT INTO locks.holdfast_waiter (name, claim, until_us) VALUES ('old', 'dead', 1)");
    try (Denials denials = new Denials();
        Client client = new Client(address(kind, server), Ticker.system()).connect()) {
      Claim held = client.claim("x");
      client.granted(held);
      assertThat(client.keep(held)).isInstanceOf(Kept.Held.class);
      Claim next = client.fair("x");
      assertThat(client.busy(next).queued()).isTrue();
      assertThat(client.end(held).outcome()).isEqualTo(Outcome.RELEASED);
      client.granted(next);
      assertThat(client.end(next).outcome()).isEqualTo(Outcome.RELEASED);
      assertThat(Client.get(client.store.diagnose()))
          .extracting(Finding::level)
          .containsOnly(Level.OK);
      Await.until("the old rows are gone", () -> {
        denials.rethrow();
        return server
                .query("SELECT name FROM locks.holdfast_lock WHERE name = 'old'")
                .isEmpty()
            && server.query("SELECT name FROM locks.holdfast_waiter").isEmpty();
      });
    }
  }

  /** Hears of what the cleaning logs alone. */
  private static final class Denials extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger(JdbcCleaner.class.getName());
    private final Queue<Throwable> seen = new ConcurrentLinkedQueue<>();

    Denials() {
      logger.setLevel(java.util.logging.Level.ALL);
      logger.addHandler(this);
    }

    void rethrow() {
      if (seen.peek() instanceof RuntimeException e) {
        throw e;
      }
    }

    @Override
    public void publish(LogRecord line) {
      if (line.getThrown() != null) {
        seen.add(line.getThrown());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      logger.removeHandler(this);
      logger.setLevel(null);
    }
  }
}
