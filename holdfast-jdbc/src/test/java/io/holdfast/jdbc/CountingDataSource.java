// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Remembers the connections that were opened. */
final class CountingDataSource implements DataSource {
  private final DataSource source;
  private final List<Connection> connections = new CopyOnWriteArrayList<>();

  CountingDataSource(DataSource source) {
    this.source = source;
  }

  int opened() {
    return connections.size();
  }

  Connection latest() {
    return connections.get(connections.size() - 1);
  }

  /** How many of them nobody has closed. */
  int open() throws SQLException {
    int open = 0;
    for (Connection each : connections) {
      open += each.isClosed() ? 0 : 1;
    }
    return open;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = source.getConnection();
    connections.add(connection);
    return connection;
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    Connection connection = source.getConnection(user, password);
    connections.add(connection);
    return connection;
  }

  @Override
  public @Nullable PrintWriter getLogWriter() throws SQLException {
    return source.getLogWriter();
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
    source.setLogWriter(out);
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    source.setLoginTimeout(seconds);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return source.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    return source.getParentLogger();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    return source.unwrap(type);
  }

  @Override
  public boolean isWrapperFor(Class<?> type) throws SQLException {
    return source.isWrapperFor(type);
  }
}
