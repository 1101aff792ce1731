// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where a pool of our own has its connections from: the driver, or before that one that was made already. A pool tells only
 * when its time is over what the driver said, since it tries again until then; so its first connection is made outside of it.
 */
final class DriverSource implements DataSource, JdbcSource {
  private final String url;
  private final Properties properties;
  private final Queue<Connection> made = new ConcurrentLinkedQueue<>();

  private volatile int loginTimeout;

  DriverSource(String url, Properties properties) {
    this.url = url;
    this.properties = properties;
  }

  /** Makes a connection. */
  @Override
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(url, (Properties) properties.clone());
  }

  @Override
  public Connection connectAside() throws SQLException {
    return connect();
  }

  @Override
  public boolean sparesOne() {
    return true;
  }

  @Override
  public boolean isOurs() {
    return true;
  }

  /** Has nothing to close. */
  @Override
  public void close() {}

  /** Gives the pool a connection, which is the next that it takes. */
  void offer(Connection connection) {
    made.add(connection);
  }

  /** Takes a connection back; false if the pool has it. */
  boolean takeBack(Connection connection) {
    return made.remove(connection);
  }

  /** For the pool. */
  @Override
  public Connection getConnection() throws SQLException {
    Connection first = made.poll();
    return first != null ? first : connect();
  }

  @Override
  public Connection getConnection(@Nullable String user, @Nullable String password)
      throws SQLException {
    throw new SQLFeatureNotSupportedException("the address has the user");
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) {}

  /** Only remembers it, for the pool: drivers know {@link LoginLimits}, and what they read is one limit for the process. */
  @Override
  public void setLoginTimeout(int seconds) {
    loginTimeout = seconds;
  }

  @Override
  public int getLoginTimeout() {
    return loginTimeout;
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("it logs nothing");
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("it wraps nothing");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
