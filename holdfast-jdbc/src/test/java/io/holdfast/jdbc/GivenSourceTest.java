// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.sql.SqlKind;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sqlite.SQLiteDataSource;

/** A store on the application's own data source. */
class GivenSourceTest {
  private static final Duration BRIEF = Duration.ofSeconds(3);

  private static HikariDataSource pool(SqlKind kind, int connections) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(kind.shared().dataSource());
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(1000);
    config.setAutoCommit(false);
    config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
    return new HikariDataSource(config);
  }

  private static Holdfast holdfast(HikariDataSource pool) {
    return Holdfast.builder().store(JdbcStore.using(pool)).build();
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
      }
      for (Connection each : all) {
        each.close();
      }
    }
  }

  /** The application takes every connection that the pool has left: holds are renewed all the same. */
  @ParameterizedTest
  @EnumSource
  void usedUpPool_losesNoHold(SqlKind kind) throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(BRIEF).build();
    try (HikariDataSource pool = pool(kind, 3);
        Holdfast holdfast = holdfast(pool)) {
      Hold hold = holdfast.lock("used-up", brief).acquire();
      List<Connection> all = new ArrayList<>();
      Await.until(
          "the worker has given its connection back",
          () -> pool.getHikariPoolMXBean().getActiveConnections() == 1);
      all.add(pool.getConnection());
      all.add(pool.getConnection());
      long until = System.nanoTime() + BRIEF.multipliedBy(2).toNanos();
      Await.until("two leases have passed", () -> {
        assertThat(hold.isValid()).isTrue();
        return System.nanoTime() - until > 0;
      });
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
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
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
