// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.sql.SqlKind;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteDataSource;

/** A store on the application's own data source. */
@Tag("stores")
class GivenSourceTest {
  private static HikariDataSource pool(SqlKind kind, int connections) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(kind.shared().dataSource());
    config.setMaximumPoolSize(connections);
    // the only one is there from the beginning, and it is soon said that there is no second
    boolean refuses = connections == 1;
    config.setMinimumIdle(refuses ? 1 : 0);
    config.setConnectionTimeout(refuses ? 1000 : 10_000);
    config.setAutoCommit(false);
    config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
    // or what it sets on PostgreSQL is rolled back with the transaction that the pool sets it in
    config.setIsolateInternalQueries(true);
    config.setConnectionInitSql(
        kind == SqlKind.POSTGRESQL
            ? "SET lock_timeout = '47s'"
            : "SET SESSION innodb_lock_wait_timeout = 47");
    return new HikariDataSource(config);
  }

  private static Holdfast holdfast(HikariDataSource pool) {
    return Holdfast.builder()
        .store(JdbcStore.using(pool))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build();
  }

  /** Connections come back as they were lent, and the pool stays open. */
  @ParameterizedTest
  @EnumSource
  void connections_areGivenBackAsTheyCame(SqlKind kind) throws Exception {
    try (HikariDataSource pool = pool(kind, 2)) {
      try (Holdfast holdfast = holdfast(pool)) {
        for (int i = 0; i < 20; i++) {
          holdfast.lock("given").acquire().close();
        }
      }
      Await.until("all are back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
      List<Connection> all = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Connection connection = pool.getConnection();
        all.add(connection);
        assertThat(connection.getAutoCommit()).isFalse();
        assertThat(connection.getTransactionIsolation())
            .isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
        assertThat(connection.getNetworkTimeout()).isZero();
        assertThat(longestWait(kind, connection)).startsWith("47");
      }
      for (Connection each : all) {
        each.close();
      }
    }
  }

  private static String longestWait(SqlKind kind, Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(
            kind == SqlKind.POSTGRESQL
                ? "SHOW lock_timeout"
                : "SELECT @@SESSION.innodb_lock_wait_timeout")) {
      row.next();
      return row.getString(1);
    }
  }

  /** A server does not notice that a driver hung up on a statement that waits: it has to give that up by itself. */
  @ParameterizedTest
  @EnumSource
  void statementThatWaitsForARow_isGivenUpByTheServer(SqlKind kind) throws Exception {
    JdbcDialect dialect = JdbcOptions.DEFAULT.dialect(kind == SqlKind.POSTGRESQL, "test");
    String waitedFor = "'waited-for'";
    try (Holdfast holdfast = Clients.connect(kind.shared().storeUri())) {
      holdfast.lock("waited-for").acquire().close();
    }
    try (Connection other = kind.shared().connect();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("SELECT * FROM holdfast_lock WHERE name = " + waitedFor + " FOR UPDATE");
      JdbcSession session =
          JdbcSession.open(kind.shared().connect(), dialect, JdbcOptions.DEFAULT.tables(), 60_000);
      assertThatThrownBy(
              () -> session.execute("UPDATE holdfast_lock SET rev = rev WHERE name = " + waitedFor))
          .isInstanceOfSatisfying(
              SQLException.class,
              e -> assertThat(dialect.kind(e)).isEqualTo(JdbcErrors.Kind.AGAIN));
      other.rollback();
      session.giveBack();
    }
  }

  /** A source that reads an inheritable thread-local (whose tenant's database?) is asked the same for all callers. */
  @ParameterizedTest
  @EnumSource
  void source_isAskedTheSameForAllCallers(SqlKind kind) throws Exception {
    InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
    List<Optional<String>> seen = new CopyOnWriteArrayList<>();
    try (HikariDataSource pool = pool(kind, 4)) {
      DataSource source = StubSource.proxy(DataSource.class, method -> {
        if (!method.equals("getConnection")) {
          return false;
        }
        seen.add(Optional.ofNullable(tenant.get()));
        return pool.getConnection();
      });
      // which asks once, on this thread, what database it is
      JdbcStore store = JdbcStore.using(source);
      seen.clear();
      tenant.set("a");
      try (Holdfast holdfast = Holdfast.builder().store(store).build()) {
        holdfast.lock("tenants").acquire().close();
        Await.until(
            "the workers' connections are back",
            () -> pool.getHikariPoolMXBean().getActiveConnections() <= 1);
        tenant.set("b");
        holdfast.lock("tenants").acquire().close();
      }
    } finally {
      tenant.remove();
    }
    assertThat(seen).hasSizeGreaterThan(1).containsOnly(Optional.empty());
  }

  /** Neither driver nor pool takes note of a plain BEGIN: what was written in it would be rolled back by another user. */
  @ParameterizedTest
  @EnumSource
  void connectionWithATransactionLeftOpen_isOfUse(SqlKind kind) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setDataSource(kind.shared().dataSource());
    config.setMaximumPoolSize(2);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Await.until("both are there", () -> pool.getHikariPoolMXBean().getIdleConnections() == 2);
      List<Connection> all = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Connection connection = pool.getConnection();
        all.add(connection);
        try (Statement statement = connection.createStatement()) {
          statement.execute("BEGIN");
        }
      }
      for (Connection each : all) {
        each.close();
      }
      try (Holdfast holdfast = holdfast(pool);
          Holdfast other = Clients.connect(kind.shared().storeUri())) {
        Hold hold = holdfast.lock("left-open").acquire();
        assertThat(other.lock("left-open").tryAcquire()).isEmpty();
        assertThat(hold.release()).isTrue();
      }
    }
  }

  /** The application takes every connection that the pool has left: holds are renewed all the same. */
  @ParameterizedTest
  @EnumSource
  void usedUpPool_losesNoHold(SqlKind kind) throws Exception {
    Renewals renewals = new Renewals();
    try (HikariDataSource pool = pool(kind, 3);
        Holdfast holdfast =
            renewals.of(Holdfast.builder().store(JdbcStore.using(pool))).build()) {
      Hold hold = holdfast.lock("used-up", Renewals.OPTIONS).acquire();
      List<Connection> all = new ArrayList<>();
      Await.until(
          "the worker has given its connection back",
          () -> pool.getHikariPoolMXBean().getActiveConnections() == 1);
      all.add(pool.getConnection());
      all.add(pool.getConnection());
      renewals.awaitTwo(hold);
      for (Connection each : all) {
        each.close();
      }
      assertThat(hold.release()).isTrue();
    }
  }

  /** One connection is not enough, which is said at once. */
  @Test
  void poolOfOne_isRefused() {
    try (HikariDataSource pool = pool(SqlKind.POSTGRESQL, 1)) {
      assertThatThrownBy(() -> holdfast(pool).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("at least two");
      Await.until("all are back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
    }
  }

  /** Two are asked for at first, one of them for cleaning, and the second is refused: then the first is not waited for either. */
  @Test
  void refusedStart_leavesNobodyInThePool() {
    CompletableFuture<String> never = new CompletableFuture<>();
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger waiting = new AtomicInteger();
    try (HikariDataSource pool = pool(SqlKind.POSTGRESQL, 1)) {
      DataSource source = StubSource.proxy(DataSource.class, method -> {
        if (!method.equals("getConnection")) {
          return false;
        }
        if (asked.incrementAndGet() == 3) {
          waiting.incrementAndGet();
          try {
            return never.get();
          } catch (InterruptedException | ExecutionException e) {
            waiting.decrementAndGet();
            throw new SQLException("interrupted", e);
          }
        }
        return pool.getConnection();
      });
      Holdfast.Builder builder = Holdfast.builder().store(JdbcStore.using(source));
      assertThatThrownBy(builder::build)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("at least two");
      assertThat(asked.get()).isGreaterThan(3);
      // it hears of the interrupt in its own time, if the machine stands still
      Await.until("the first is ended", () -> waiting.get() == 0);
    }
  }

  @Test
  void anotherDatabase_isRefused(@TempDir Path folder) {
    SQLiteDataSource sqlite = new SQLiteDataSource();
    sqlite.setUrl("jdbc:sqlite:" + folder.resolve("x.db"));
    assertThatThrownBy(() -> JdbcStore.using(sqlite))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("SQLite")
        .hasMessageContaining("PostgreSQL, MySQL and MariaDB");
  }
}
