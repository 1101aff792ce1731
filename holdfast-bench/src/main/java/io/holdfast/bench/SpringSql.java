// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.measure.Contention;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's registry. */
final class SpringSql implements Peer {
  private final HikariDataSource pool;
  private final DefaultLockRepository repository;
  private final JdbcLockRegistry registry;

  SpringSql(HikariDataSource pool) {
    this.pool = pool;
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS INT_LOCK (LOCK_KEY CHAR(36) NOT NULL,"
          + " REGION VARCHAR(100) NOT NULL, CLIENT_ID CHAR(36), CREATED_DATE TIMESTAMP NULL,"
          + " EXPIRED_AFTER TIMESTAMP NULL, PRIMARY KEY (LOCK_KEY, REGION))");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    repository = new DefaultLockRepository(pool);
    repository.setTransactionManager(new JdbcTransactionManager(pool));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    registry = new JdbcLockRegistry(repository);
  }

  @Override
  public Contention.Guard lock(String name) {
    return RedissonPeer.guard(registry.obtain(name));
  }

  @Override
  public void close() {
    repository.stop();
    pool.close();
  }
}
