// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.ConfigurationException;
import io.holdfast.spi.StoreAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A small pool of our own, made with the first connection. */
final class PooledSource implements JdbcSource {
  /**
   * The drivers that serve a scheme: a class of each, and the artifact that has it. The first one is named if none is
   * there.
   */
  private static final Map<String, String> ARTIFACTS = Map.of(
      "jdbc:postgresql", "org.postgresql:postgresql",
      "jdbc:mariadb", "org.mariadb.jdbc:mariadb-java-client",
      "jdbc:mysql", "org.mariadb.jdbc:mariadb-java-client or com.mysql:mysql-connector-j");

  /** Less than a request has by default: the pool tells only after this what the driver said at once. */
  private static final long CONNECT_TIMEOUT_MILLIS = 1500;

  /** How often that time is waited for a connection that is being made. */
  private static final int SLOW_TIMES = 3;

  /** The shortest that the pool takes: a client at rest has one connection, that for renewals. */
  private static final long IDLE_MILLIS = 10_000;

  private final String url;
  private final String store;
  private final int most;
  private final ReentrantLock guard = new ReentrantLock();
  private @Nullable HikariDataSource pool;
  private boolean closed;
  private volatile boolean connected;

  private PooledSource(String url, String store, int most) {
    this.url = url;
    this.store = store;
    this.most = most;
  }

  /**
   * Makes a source, without contacting the database.
   *
   * @throws ConfigurationException if the driver or the pool is not on the class path
   */
  static PooledSource of(StoreAddress address, JdbcOptions options) {
    String store = address.toString();
    String url = served(address.url());
    if (url.isEmpty()) {
      throw new ConfigurationException(
          "no driver for " + address.scheme() + " was found; add "
              + ARTIFACTS.get(address.scheme()),
          store,
          null);
    }
    // one more for renewals, and one for who gives his back just now
    return new PooledSource(url, store, options.connections() + 2);
  }

  /** The address that a driver takes; empty if none does. MariaDB's takes MySQL's only if it is told to. */
  private static String served(String url) {
    if (hasDriver(url)) {
      return url;
    }
    String permitted = url + (url.indexOf('?') < 0 ? "?" : "&") + "permitMysqlScheme";
    return hasDriver(permitted) ? permitted : "";
  }

  private static boolean hasDriver(String url) {
    try {
      return DriverManager.getDriver(url) != null;
    } catch (SQLException e) {
      // that is how it says that there is none
      return false;
    }
  }

  @Override
  public Connection connect() throws SQLException {
    for (int times = 1; true; times++) {
      HikariDataSource from = pool();
      try {
        Connection connection = from.getConnection();
        connected = true;
        return connection;
      } catch (SQLException e) {
        boolean again = isReplaced(from, e) || isSlow(e);
        if (!again || times == SLOW_TIMES) {
          throw e;
        }
      }
    }
  }

  /** Without a cause nothing has failed: the first connection of a process that has just begun is slow to make. */
  private boolean isSlow(SQLException e) {
    return !connected && e instanceof SQLTransientConnectionException && e.getCause() == null;
  }

  /**
   * Throws away a pool that may never have a connection: what it asks its first one, it asks once. If that breaks there, it
   * takes -1 for the isolation to set from then on, which every driver refuses (HikariCP's issues 887 and 1944). Such a
   * failure to set a connection up is no SQLException, unlike one to make it.
   *
   * @return whether there is another one now, or will be
   */
  private boolean isReplaced(HikariDataSource from, SQLException e) {
    guard.lock();
    try {
      boolean unusable =
          !connected && e.getCause() != null && !(e.getCause() instanceof SQLException);
      if (pool == from && unusable) {
        pool = null;
        // it waits for those who make connections
        Thread thread = new Thread(from::close, "holdfast-jdbc-pool");
        thread.setDaemon(true);
        thread.start();
      }
      return pool != from && !closed;
    } finally {
      guard.unlock();
    }
  }

  /** Beside the pool, so that whoever works finds no fewer in it. */
  @Override
  public Connection connectAside() throws SQLException {
    guard.lock();
    try {
      if (closed) {
        throw new SQLException("the store is closed", "08003");
      }
    } finally {
      guard.unlock();
    }
    return DriverManager.getConnection(url, Pgjdbc.listening(url));
  }

  @Override
  public boolean sparesOne() {
    return true;
  }

  private HikariDataSource pool() throws SQLException {
    guard.lock();
    try {
      if (closed) {
        throw new SQLException("the store is closed", "08003");
      }
      HikariDataSource made = pool;
      if (made == null) {
        // it connects with the first connection that is asked of it, and not here
        made = make();
        pool = made;
      }
      return made;
    } finally {
      guard.unlock();
    }
  }

  private HikariDataSource make() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setPoolName("holdfast " + store);
    config.setMaximumPoolSize(most);
    config.setMinimumIdle(0);
    config.setIdleTimeout(IDLE_MILLIS);
    config.setConnectionTimeout(CONNECT_TIMEOUT_MILLIS);
    // the first connection tells what is wrong; the pool itself should not wait for it
    config.setInitializationFailTimeout(-1);
    if (!url.startsWith("jdbc:postgresql:")) {
      // an attempt is a long statement, which would be parsed each time
      set(config, "useServerPrepStmts", "true");
      // Until a session sets its own. To end a connection that is aborted, MariaDB's driver makes another one, and would wait
      // for ever there if the server is silent.
      set(config, "socketTimeout", Long.toString(CONNECT_TIMEOUT_MILLIS));
    }
    return new HikariDataSource(config);
  }

  /** Sets a property of the driver, unless the address does. */
  private void set(HikariConfig config, String property, String value) {
    if (!url.contains(property + "=")) {
      config.addDataSourceProperty(property, value);
    }
  }

  @Override
  public boolean isOurs() {
    return true;
  }

  @Override
  public void close() {
    HikariDataSource made;
    guard.lock();
    try {
      closed = true;
      made = pool;
      pool = null;
    } finally {
      guard.unlock();
    }
    if (made != null) {
      made.close();
    }
  }
}
