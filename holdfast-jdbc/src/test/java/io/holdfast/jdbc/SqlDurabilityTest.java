// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.ConfigurationException;
import io.holdfast.Guarantee;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.sql.MariaServer;
import io.holdfast.testkit.sql.MySqlServer;
import io.holdfast.testkit.sql.PostgresPair;
import io.holdfast.testkit.sql.PostgresServer;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What commits wait for, what a failover keeps, and what doctor says of both. */
@Tag("all")
class SqlDurabilityTest {
  private static final String RELAXED = "holdfast.durability=relaxed";

  /** A commit that waits for its replica hangs here: one that waits for nothing does not. */
  @Test
  void relaxed_waitsForNoCommit() {
    try (SqlServer server = PostgresServer.with();
        Client relaxed = new Client(SqlUnderTest.uri(server, RELAXED), Ticker.system()).connect();
        Client plain = new Client(SqlUnderTest.uri(server), Ticker.system()).connect()) {
      server.execute(
          "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()");
      Await.until(
          "commits wait", () -> server.query("SHOW synchronous_standby_names").contains("nobody"));
      for (int i = 0; i < 8; i++) {
        Claim claim = relaxed.claim("x");
        relaxed.granted(claim);
        assertThat(relaxed.keep(claim)).isInstanceOf(Kept.Held.class);
        assertThat(relaxed.end(claim).outcome()).isEqualTo(Outcome.RELEASED);
      }
      CompletionStage<Answer> hangs = plain.store.attempt(plain.claim("y"), Mode.TRY, plain.soon());
      Await.until(
          "the other one waits",
          () -> server
              .query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
              .contains("1"));
      assertThat(hangs.toCompletableFuture()).isNotDone();
      server.execute("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
      assertThat(Client.get(hangs)).isInstanceOf(Answer.Granted.class);
    }
  }

  /** It is the lock's own commits that do not wait: the application's, on the same connection, do. */
  @Test
  void relaxed_leavesTheApplicationsCommitsAlone() throws Exception {
    HikariConfig config = new HikariConfig();
    config.setDataSource(SqlKind.POSTGRESQL.shared().dataSource());
    config.setMaximumPoolSize(2);
    JdbcSettings settings =
        JdbcSettings.builder().durability(Durability.RELAXED).build();
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Holdfast holdfast =
          Holdfast.builder().store(JdbcStore.using(pool, settings)).build()) {
        holdfast.lock("x").acquire().close();
        assertThat(holdfast.guarantees().given()).doesNotContain(Guarantee.HOLDS_SURVIVE_RESTART);
      }
      Await.until("all are back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
      try (Connection one = pool.getConnection();
          Connection other = pool.getConnection()) {
        for (Connection each : new Connection[] {one, other}) {
          try (Statement statement = each.createStatement();
              ResultSet row = statement.executeQuery("SHOW synchronous_commit")) {
            assertThat(row.next()).isTrue();
            assertThat(row.getString(1)).isEqualTo("on");
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = "POSTGRESQL", mode = EnumSource.Mode.EXCLUDE)
  void relaxed_isRefusedWhereItIsTheServers(SqlKind kind) {
    SqlServer server = kind.shared();
    JdbcSettings settings =
        JdbcSettings.builder().durability(Durability.RELAXED).build();
    assertThatThrownBy(() -> Holdfast.connect(SqlUnderTest.uri(server, RELAXED)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("innodb_flush_log_at_trx_commit");
    assertThatThrownBy(() -> JdbcStore.using(server.dataSource(), settings))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("innodb_flush_log_at_trx_commit");
  }

  /** The holder's server dies: with a synchronous replica in its place the hold goes on, and tokens grow. */
  @Test
  void failover_keepsWhatASynchronousReplicaHas() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(10)).build();
    try (PostgresPair pair = PostgresPair.synchronous();
        Holdfast holder = SqlUnderTest.patient(uri(pair)).build();
        Holdfast other = SqlUnderTest.patient(uri(pair)).build()) {
      Hold hold = holder.lock("x", brief).acquire();
      var waiter = other.lock("x", brief).acquireAsync();
      Await.until(
          "it waits",
          () -> pair.primary().query("SELECT wanted_us > 0 FROM holdfast_lock").contains("t"));
      pair.primary().kill();
      pair.promote();
      Await.until("it is renewed there", () -> {
        assertThat(hold.isValid()).isTrue();
        return pair.replica()
            .query(
                "SELECT until_us > (extract(epoch FROM clock_timestamp()) + 9) * 1000000 FROM holdfast_lock")
            .contains("t");
      });
      assertThat(waiter).isNotDone();
      assertThat(hold.release()).isTrue();
      Hold next = Await.value(waiter);
      assertThat(next.token()).isGreaterThan(hold.token());
      next.release();
    }
  }

  /** What an asynchronous replica has not heard of is forgotten; the holder is told, and tokens grow all the same. */
  @Test
  @MayWarn("lock=x .*hold lost")
  void failover_forgetsWhatAnAsynchronousReplicaLacks_andTheHolderIsTold() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(10)).build();
    try (PostgresPair pair = PostgresPair.asynchronous();
        Holdfast holder = SqlUnderTest.patient(uri(pair)).build();
        Holdfast other = SqlUnderTest.patient(uri(pair)).build()) {
      holder.lock("x", brief).acquire().close();
      pair.awaitReplica();
      pair.cutReplica();
      Hold hold = holder.lock("x", brief).acquire();
      pair.primary().kill();
      pair.promote();
      Hold next = other.lock("x", brief).acquire(Duration.ofSeconds(20));
      assertThat(next.token()).isGreaterThan(hold.token());
      Await.until("the former holder is told", () -> !hold.isValid());
      assertThat(next.isValid()).isTrue();
      next.release();
    }
  }

  private static String uri(PostgresPair pair) {
    return pair.jdbcUrl() + "&user=" + pair.primary().user() + "&password="
        + pair.primary().password();
  }

  private static Map<String, Level> diagnosed(SqlServer server) {
    try (Client client = new Client(SqlUnderTest.uri(server), Ticker.system()).connect()) {
      return Client.get(client.store.diagnose()).stream()
          .collect(Collectors.toMap(Finding::subject, Finding::level));
    }
  }

  @ParameterizedTest
  @EnumSource
  void doctor_likesAServerThatForgetsNothing(SqlKind kind) {
    assertThat(diagnosed(kind.shared()))
        .containsKeys("role", "durability", "replication", "transactions")
        .doesNotContainValue(Level.WARNING)
        .doesNotContainValue(Level.PROBLEM);
  }

  @ParameterizedTest
  @EnumSource
  void doctor_namesWhatForgets(SqlKind kind) {
    try (SqlServer server = careless(kind)) {
      assertThat(diagnosed(server)).containsEntry("durability", Level.WARNING);
    }
  }

  private static Finding finding(SqlServer server, String subject, String... parameters) {
    try (Client client =
        new Client(SqlUnderTest.uri(server, parameters), Ticker.system()).connect()) {
      return Client.get(client.store.diagnose()).stream()
          .filter(each -> each.subject().equals(subject))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void doctor_saysThatDurabilityIsRelaxed() {
    assertThat(finding(SqlKind.POSTGRESQL.shared(), "durability", RELAXED))
        .matches(each -> each.level() == Level.WARNING)
        .matches(each -> each.message().contains(RELAXED) && each.advice().contains(RELAXED));
  }

  /** Standbys that no commit waits for forget as others do. */
  @Test
  void doctor_seesThatNoCommitWaitsForTheStandbysThatAreNamed() {
    try (SqlServer server =
        PostgresServer.with("synchronous_standby_names=nobody", "synchronous_commit=local")) {
      assertThat(finding(server, "replication"))
          .matches(each -> each.level() == Level.WARNING)
          .matches(each -> each.advice().contains("not local"));
      assertThat(finding(server, "replication", RELAXED))
          .matches(each -> each.level() == Level.WARNING)
          .matches(each -> each.advice().contains(RELAXED));
      assertThat(finding(server, "durability").level()).isEqualTo(Level.OK);
    }
  }

  /** Others' transactions look as if they were not there, to a user who may not see them. */
  @Test
  void doctor_saysWhatItCannotSee() {
    try (SqlServer server = PostgresServer.with()) {
      assertThat(finding(server, "transactions").message())
          .contains("of this user", "cannot be seen", "GRANT pg_read_all_stats TO holdfast");
      server.execute("GRANT pg_read_all_stats TO holdfast");
      assertThat(finding(server, "transactions").message()).startsWith("the oldest is open for");
    }
  }

  private static SqlServer careless(SqlKind kind) {
    return switch (kind) {
      case POSTGRESQL -> PostgresServer.with("full_page_writes=off");
      case MARIADB -> MariaServer.with("--innodb-flush-log-at-trx-commit=2");
      case MYSQL -> MySqlServer.with("--innodb-flush-log-at-trx-commit=2");
    };
  }
}
