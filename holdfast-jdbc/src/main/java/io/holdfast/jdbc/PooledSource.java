// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.ConfigurationException;
import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreAddress;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A small pool of our own, made with the first connection. */
final class PooledSource implements JdbcSource {
  private static final System.Logger LOG = System.getLogger(PooledSource.class.getName());
  /**
   * The drivers that serve a scheme: a class of each, and the artifact that has it. The first one is named if none is
   * there.
   */
  private static final Map<String, String> ARTIFACTS = Map.of(
      "jdbc:postgresql", "org.postgresql:postgresql",
      "jdbc:mariadb", "org.mariadb.jdbc:mariadb-java-client",
      "jdbc:mysql", "org.mariadb.jdbc:mariadb-java-client or com.mysql:mysql-connector-j");

  /** Less than a request has by default: the pool tells only after this what the driver said at once. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(1500);

  /** How often that time is waited at least for a pool's first connection, which may be the first of a process. */
  private static final int TIMES_AT_FIRST = 3;

  /** The shortest that the pool takes: a client at rest has one connection, that for renewals. */
  private static final long IDLE_MILLIS = 10_000;

  private final String url;
  private final AddressSecrets secrets;
  private final String store;
  private final int most;

  /** How often that time is waited for a connection that is being made: as long as a request may take. */
  private final int times;

  private final DriverSource driver;

  /** The same driver, for what the pool is not asked for yet; waited for no longer than the pool is. */
  private final JdbcSource first;

  private final ReentrantLock guard = new ReentrantLock();
  private @Nullable Made pool;
  private boolean closed;

  private PooledSource(String url, String store, int most, int times, Ticker ticker) {
    this.url = url;
    this.secrets = AddressSecrets.of(url);
    this.store = store;
    this.most = most;
    this.times = times;
    this.driver = new DriverSource(url, properties(url));
    Duration limit = CONNECT_TIMEOUT.multipliedBy(Math.max(times, TIMES_AT_FIRST));
    this.first = new LimitedSource(driver, limit, ticker);
  }

  /**
   * Makes a source, without contacting the database.
   *
   * @throws ConfigurationException if the driver or the pool is not there
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
    if (!DataSourceRoom.isHikariPresent()) {
      throw new ConfigurationException(
          "no connection pool was found; add com.zaxxer:HikariCP, or where there are modules --add-modules com.zaxxer.hikari",
          store,
          null);
    }
    // one more for renewals, and one for who gives his back just now
    return new PooledSource(url, store, options.connections() + 2, 1, Ticker.system());
  }

  @Override
  public JdbcSource forRequestsOf(Duration requestTimeout, Ticker ticker) {
    long often = requestTimeout.dividedBy(CONNECT_TIMEOUT);
    return new PooledSource(
        url, store, most, (int) Math.max(1, Math.min(often, Integer.MAX_VALUE)), ticker);
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
    try {
      return borrowed();
    } catch (Throwable e) {
      secrets.throwIfQuoted(e);
      throw e;
    }
  }

  private Connection borrowed() throws SQLException {
    for (int time = 1; true; time++) {
      Made from = pool();
      Optional<Connection> made =
          isConnected(from) ? Optional.empty() : Optional.of(first.connect());
      try {
        made.ifPresent(driver::offer);
        Connection connection = from.pool.getConnection();
        if (noteConnected(from)) {
          return connection;
        }
        // that pool is being closed meanwhile, and ends what it has lent
        connection.close();
      } catch (SQLException e) {
        if (!isWorthAnother(from, e, time)) {
          throw isSlow(e) ? silent(from, e) : e;
        }
      } finally {
        made.filter(driver::takeBack)
            .ifPresent(
                connection -> Broken.end(connection, "a connection that the pool had no use for"));
      }
    }
  }

  private boolean isConnected(Made from) {
    guard.lock();
    try {
      return from.connected;
    } finally {
      guard.unlock();
    }
  }

  /** What the pool says then is how many connections it has. */
  private SQLException silent(Made from, SQLException e) {
    int waits = isConnected(from) ? times : Math.max(times, TIMES_AT_FIRST);
    SQLException silent = new SQLTransientConnectionException(
        LimitedSource.NO_ANSWER + DurationText.of(CONNECT_TIMEOUT.multipliedBy(waits)), "08001");
    silent.addSuppressed(e);
    return silent;
  }

  /** Notes that a pool has had a connection; false if it is not the one of this source any more. */
  private boolean noteConnected(Made from) {
    guard.lock();
    try {
      from.connected = true;
      return pool == from;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Says whether the same request should ask again. A pool that may never have a connection is thrown away, and the next
   * request has a new one: this one is told now what is wrong.
   */
  private boolean isWorthAnother(Made from, SQLException e, int time) {
    guard.lock();
    try {
      if (pool != from) {
        return time < TIMES_AT_FIRST;
      }
      if (from.mayBeUnusable(e)) {
        discard(from);
        return false;
      }
      return isSlow(e) && time < (from.connected ? times : Math.max(times, TIMES_AT_FIRST));
    } finally {
      guard.unlock();
    }
  }

  /** Without a cause nothing has failed: a connection is being made, and the server, or this machine, is slow. */
  private static boolean isSlow(SQLException e) {
    return e instanceof SQLTransientConnectionException && e.getCause() == null;
  }

  /** To be called with the guard. */
  private void discard(Made from) {
    // it waits for those who make connections
    Thread thread = new DaemonThread(from.pool::close, "holdfast-jdbc-pool");
    try {
      thread.start();
      pool = null;
    } catch (OutOfMemoryError noThread) {
      // the next failure tries again
      LOG.log(Level.ERROR, "store=" + store + " no thread could be made", noThread);
    }
  }

  /** A pool, and whether it has had a connection, which the guard guards. */
  private static final class Made {
    final HikariDataSource pool;
    boolean connected;

    Made(HikariDataSource pool) {
      this.pool = pool;
    }

    /**
     * What a pool asks its first connection, it asks once. If that breaks there, it takes -1 for the isolation to set from
     * then on, which every driver refuses (HikariCP's issues 887 and 1944). A failure to set a connection up is no
     * SQLException, unlike one to make it.
     */
    boolean mayBeUnusable(SQLException e) {
      Throwable cause = e.getCause();
      return !connected
          && cause != null
          && !(cause instanceof SQLException)
          && !(cause instanceof InterruptedException);
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
    Properties properties = Pgjdbc.listening(url);
    LoginLimits.of(url).forEach(properties::setProperty);
    try {
      return DriverManager.getConnection(url, properties);
    } catch (Throwable e) {
      secrets.throwIfQuoted(e);
      throw e;
    }
  }

  @Override
  public boolean sparesOne() {
    return true;
  }

  private Made pool() throws SQLException {
    guard.lock();
    try {
      if (closed) {
        throw new SQLException("the store is closed", "08003");
      }
      Made made = pool;
      if (made == null) {
        // it connects with the first connection that is asked of it, and not here
        made = new Made(make());
        pool = made;
      }
      return made;
    } finally {
      guard.unlock();
    }
  }

  private HikariDataSource make() {
    HikariConfig config = new HikariConfig();
    config.setDataSource(driver);
    config.setPoolName("holdfast " + store);
    config.setMaximumPoolSize(most);
    config.setMinimumIdle(0);
    config.setIdleTimeout(IDLE_MILLIS);
    config.setConnectionTimeout(CONNECT_TIMEOUT.toMillis());
    // the first connection tells what is wrong; the pool itself should not wait for it
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /** What the driver is told for a connection that is the pool's. */
  private static Properties properties(String url) {
    Properties properties = new Properties();
    LoginLimits.of(url).forEach(properties::setProperty);
    if (!url.startsWith("jdbc:postgresql:") && !LoginLimits.says(url, "useServerPrepStmts")) {
      // an attempt is a long statement, which would be parsed each time
      properties.setProperty("useServerPrepStmts", "true");
    }
    return properties;
  }

  @Override
  public boolean isOurs() {
    return true;
  }

  @Override
  public void close() {
    Made made;
    guard.lock();
    try {
      closed = true;
      made = pool;
      pool = null;
    } finally {
      guard.unlock();
    }
    first.close();
    if (made != null) {
      made.pool.close();
    }
  }
}
