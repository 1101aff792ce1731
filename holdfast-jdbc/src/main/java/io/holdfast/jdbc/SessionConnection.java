// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockKey;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * What is said to the database about a session lock, on the connection that is the session. Used by one thread at a time,
 * but for {@link #cancel} and {@link #abort}.
 */
final class SessionConnection {
  private static final Logger LOG = System.getLogger(SessionConnection.class.getName());

  /** How long a probe or a release waits for its answer. */
  static final int ANSWER_MILLIS = 2_000;

  /**
   * How long one statement waits for the lock. On PostgreSQL a statement that waits for ever keeps a snapshot for ever: the
   * clean-up of the whole database waits for it, and so does who builds an index concurrently, while he holds the lock.
   */
  private static final int SLICE_MILLIS = 1_000;

  private final Connection connection;
  private final boolean autoCommit;
  private final int networkTimeout;
  private final DatabaseKind kind;
  private final LockKey name;
  private final long session;

  /** Whether the server's process is another one than the one that has greeted. */
  private final boolean isProxied;

  private volatile @Nullable Statement running;

  /** What it was before the first wait; null before that. */
  private @Nullable String lockTimeout;

  private SessionConnection(
      Connection connection, LockKey name, boolean autoCommit, int networkTimeout)
      throws SQLException {
    this.connection = connection;
    this.name = name;
    this.autoCommit = autoCommit;
    this.networkTimeout = networkTimeout;
    this.kind = DatabaseKind.of(connection);
    this.session = session();
    this.isProxied = kind.isPostgres()
        && Pgjdbc.isBehind(connection)
        && Pgjdbc.greetedPid(connection) != session;
  }

  static SessionConnection open(SessionSource source, LockKey name) throws SQLException {
    SessionConnection made = borrow(source, name);
    if (source.isKnown() || !made.isProxied) {
      return made;
    }
    made.giveBackOrAbort();
    source.requireSessions(name);
    return borrow(source, name);
  }

  private static SessionConnection borrow(SessionSource source, LockKey name) throws SQLException {
    Connection connection = source.connect();
    try {
      int networkTimeout = connection.getNetworkTimeout();
      // first of all: every question after it may be the one that is not answered
      connection.setNetworkTimeout(Runnable::run, SLICE_MILLIS + ANSWER_MILLIS);
      boolean autoCommit = connection.getAutoCommit();
      connection.setAutoCommit(true);
      return new SessionConnection(connection, name, autoCommit, networkTimeout);
    } catch (SQLException | RuntimeException e) {
      abort(connection, name);
      throw e;
    }
  }

  private void giveBackOrAbort() throws SQLException {
    try {
      giveBack();
    } catch (SQLException | RuntimeException e) {
      abort();
      throw e;
    }
  }

  /** Takes the lock if it is free. */
  boolean tryLock() throws SQLException {
    return kind.isPostgres()
        ? ask("SELECT CASE WHEN pg_try_advisory_lock(?) THEN 1 ELSE 0 END") == 1
        : taken(ask("SELECT COALESCE(GET_LOCK(?, 0), -1)"));
  }

  /**
   * Waits for the lock, for about a second.
   *
   * @return false: it is not held, and the wait may go on
   */
  boolean lock() throws SQLException {
    return kind.isPostgres() ? lockPostgres() : lockMySql();
  }

  private boolean lockMySql() throws SQLException {
    try {
      return taken(ask("SELECT COALESCE(GET_LOCK(?, " + SLICE_MILLIS / 1000 + "), -1)"));
    } catch (SQLException e) {
      // limits for all statements, which somebody has set for all sessions
      if (e.getErrorCode() == 3024 || e.getErrorCode() == 1969) {
        return false;
      }
      throw e;
    }
  }

  private boolean lockPostgres() throws SQLException {
    if (lockTimeout == null) {
      lockTimeout = setting("SELECT current_setting('lock_timeout')");
      setting("SELECT set_config('lock_timeout', '" + SLICE_MILLIS + "ms', false)");
    }
    try {
      ask("SELECT 1 FROM (SELECT pg_advisory_lock(?)) AS locked");
      return true;
    } catch (SQLException e) {
      // its own limit, or one that somebody has set for all sessions; or cancel()
      if (!"55P03".equals(e.getSQLState()) && !"57014".equals(e.getSQLState())) {
        throw e;
      }
      // a limit can pass between the grant and the end of the statement: an error takes no lock of a session back
      while (freed() == 1) {
        LOG.log(Level.DEBUG, "lock \"{0}\" was granted when its wait had ended", name);
      }
      return false;
    }
  }

  private long freed() throws SQLException {
    return kind.isPostgres()
        ? ask("SELECT CASE WHEN pg_advisory_unlock(?) THEN 1 ELSE 0 END")
        : ask("SELECT COALESCE(RELEASE_LOCK(?), 0)");
  }

  private String setting(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return String.valueOf(rows.getString(1));
    }
  }

  private static boolean taken(long answer) throws SQLException {
    if (answer < 0) {
      throw new SQLException("the database could not lock, and does not say why");
    }
    return answer == 1;
  }

  /** From here on answers are awaited for a short time only. */
  void expectAnswers() throws SQLException {
    connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
  }

  /** Asks whether this is still the session that has the lock. */
  boolean isStillOurs() throws SQLException {
    return kind.isPostgres()
        ? session() == session
        : ask("SELECT COALESCE(IS_USED_LOCK(?), -1)") == session;
  }

  /** Frees the lock, and gives the connection back as it was. */
  void unlock() throws SQLException {
    if (freed() != 1) {
      throw new SQLException("the lock was not this session's any more");
    }
    giveBack();
  }

  /** Gives the connection back, which has no lock. */
  void giveBack() throws SQLException {
    try (connection) {
      if (lockTimeout != null) {
        setting("SELECT set_config('lock_timeout', '" + lockTimeout + "', false)");
      }
      connection.setAutoCommit(autoCommit);
      connection.setNetworkTimeout(Runnable::run, networkTimeout);
    }
  }

  private long session() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(
            kind.isPostgres() ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()")) {
      return number(rows);
    }
  }

  private long ask(String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      if (kind.isPostgres()) {
        statement.setLong(1, SessionKey.forPostgres(name));
      } else {
        statement.setString(1, SessionKey.forMySql(name));
      }
      running = statement;
      try (ResultSet rows = statement.executeQuery()) {
        return number(rows);
      } finally {
        running = null;
      }
    }
  }

  private static long number(ResultSet rows) throws SQLException {
    if (!rows.next()) {
      throw new SQLException("an answer without a row");
    }
    return rows.getLong(1);
  }

  /** Ends the wait at the server, as far as that can be reached. Called by another thread; abort comes next. */
  void cancel() {
    Statement waits = running;
    if (waits != null) {
      try {
        waits.cancel();
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "a wait for lock \"" + name + "\" could not be cancelled", e);
      }
    }
  }

  /** Ends the session, whatever it is doing, and with it the lock. A pool does not lend this connection again. */
  void abort() {
    abort(connection, name);
  }

  private static void abort(Connection connection, LockKey name) {
    // what a pool has lent is given back; what is closed stays so
    Broken.end(connection, "the session of lock \"" + name + "\"");
  }
}
