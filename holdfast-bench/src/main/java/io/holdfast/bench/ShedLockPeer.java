// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Ticker;
import io.holdfast.measure.Contention;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

/** ShedLock, which only tries. */
final class ShedLockPeer implements Peer {
  private static final Duration AT_MOST = Duration.ofSeconds(30);

  private final HikariDataSource pool;
  private final JdbcTemplateLockProvider provider;

  ShedLockPeer(HikariDataSource pool) {
    this.pool = pool;
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY,"
              + " lock_until TIMESTAMP(3) NULL, locked_at TIMESTAMP(3) NULL,"
              + " locked_by VARCHAR(255) NOT NULL)");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    provider = new JdbcTemplateLockProvider(pool);
  }

  @Override
  public Contention.Guard lock(String name) {
    return inside -> {
      LockConfiguration wanted = new LockConfiguration(
          Instant.ofEpochMilli(Ticker.system().wallMillis()), name, AT_MOST, Duration.ZERO);
      SimpleLock lock = provider.lock(wanted).orElseThrow();
      inside.run();
      lock.unlock();
    };
  }

  @Override
  public void close() {
    pool.close();
  }
}
