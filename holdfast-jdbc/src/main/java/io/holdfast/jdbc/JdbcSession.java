// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A borrowed connection with its statements. One thread at a time uses it; only {@link #abort()} may come from another. */
final class JdbcSession {
  private static final System.Logger LOG = System.getLogger(JdbcSession.class.getName());

  /** For what a driver has to do: who aborts a connection waits for that, and must be ready to. */
  private static final Executor HERE = Runnable::run;

  /** Something to do. */
  @FunctionalInterface
  interface Step {
    void run() throws SQLException;
  }

  /** It is given back or ended once: a pool that is told twice may lend one connection to two. */
  private enum Use {
    USED,
    RETURNING,
    OVER
  }

  /** The request goes on as long as its statements do. */
  static final BooleanSupplier NEVER = () -> false;

  private final Connection connection;
  private final JdbcTables tables;
  private final JdbcDialect.Setup setup;
  private final Map<String, PreparedStatement> prepared = new HashMap<>();
  private final boolean wasAutoCommit;
  private final int isolation;
  private final int timeoutMillis;
  private long number = UUID.randomUUID().getMostSignificantBits() & (Long.MAX_VALUE >> 1);

  private BooleanSupplier givesUp = NEVER;

  private final AtomicReference<Use> use = new AtomicReference<>(Use.USED);

  private JdbcSession(
      Connection connection,
      JdbcTables tables,
      JdbcDialect.Setup setup,
      boolean wasAutoCommit,
      int timeoutMillis)
      throws SQLException {
    this.connection = connection;
    this.tables = tables;
    this.setup = setup;
    this.wasAutoCommit = wasAutoCommit;
    this.timeoutMillis = timeoutMillis;
    isolation = connection.getTransactionIsolation();
  }

  /**
   * Makes a connection ready: each statement is a transaction by itself, judged by what is committed, and given up when
   * nothing is heard for too long.
   */
  static JdbcSession open(
      Connection connection, JdbcDialect dialect, JdbcTables tables, int timeoutMillis)
      throws SQLException {
    try {
      int before = connection.getNetworkTimeout();
      // first of all: every question after it may be the one that is not answered
      connection.setNetworkTimeout(HERE, timeoutMillis);
      boolean wasAutoCommit = connection.getAutoCommit();
      rollBackWhatWasLeftOpen(connection, wasAutoCommit);
      // what is asked and set from here on is the session's, and no transaction's
      connection.setAutoCommit(true);
      JdbcSession session =
          new JdbcSession(connection, tables, dialect.setup(connection), wasAutoCommit, before);
      session.begin();
      return session;
    } catch (Throwable e) {
      Broken.end(connection, "a connection that could not be set up");
      throw e;
    }
  }

  /** A plain BEGIN, which neither a driver nor a pool takes note of, may have been left open. It is not ours to commit. */
  static void rollBackWhatWasLeftOpen(Connection connection, boolean wasAutoCommit)
      throws SQLException {
    if (wasAutoCommit) {
      connection.setAutoCommit(false);
    }
    connection.rollback();
  }

  private void begin() throws SQLException {
    if (setup.readCommitted() && isolation != Connection.TRANSACTION_READ_COMMITTED) {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }
    if (!setup.setUp().isEmpty()) {
      execute(setup.setUp());
    }
  }

  JdbcTables tables() {
    return tables;
  }

  /** Says whether the server still answers. */
  boolean isAlive(int seconds) throws SQLException {
    return connection.isValid(seconds);
  }

  /** Begins a request, of which no further statement is begun once it is to be given up. */
  void giveUpWhen(BooleanSupplier overdue) {
    givesUp = overdue;
  }

  /** Returns a number that no other session is likely to have, and that this one has not returned before. */
  long nextNumber() {
    return ++number;
  }

  Connection connection() {
    return connection;
  }

  /** Prepares a statement, once; its text is made by the first who asks. */
  PreparedStatement prepare(String sql, UnaryOperator<String> text) throws SQLException {
    return prepare(sql, text, Statement.NO_GENERATED_KEYS);
  }

  /** The same, for one that answers by a generated key. */
  PreparedStatement prepareWithKey(String sql, UnaryOperator<String> text) throws SQLException {
    return prepare(sql, text, Statement.RETURN_GENERATED_KEYS);
  }

  private PreparedStatement prepare(String sql, UnaryOperator<String> text, int keys)
      throws SQLException {
    if (givesUp.getAsBoolean()) {
      throw new SQLTimeoutException("the request's time was up before its next statement", "08006");
    }
    PreparedStatement known = prepared.get(sql);
    if (known != null) {
      return known;
    }
    String put = text.apply(sql);
    PreparedStatement made = keys == Statement.RETURN_GENERATED_KEYS
        ? connection.prepareStatement(put, keys)
        : connection.prepareStatement(put);
    prepared.put(sql, made);
    return made;
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  void inTransaction(Step step) throws SQLException {
    connection.setAutoCommit(false);
    try {
      step.run();
      connection.commit();
    } catch (SQLException | RuntimeException e) {
      try {
        connection.rollback();
      } catch (SQLException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    } finally {
      connection.setAutoCommit(true);
    }
  }

  /** Gives the connection back as it was. */
  void giveBack() {
    try {
      if (!setup.undo().isEmpty()) {
        execute(setup.undo());
      }
      for (PreparedStatement each : prepared.values()) {
        each.close();
      }
      if (setup.readCommitted() && isolation != Connection.TRANSACTION_READ_COMMITTED) {
        connection.setTransactionIsolation(isolation);
      }
      if (!wasAutoCommit) {
        connection.setAutoCommit(false);
      }
      setup.last().run();
      connection.setNetworkTimeout(HERE, timeoutMillis);
      if (use.compareAndSet(Use.USED, Use.RETURNING)) {
        connection.close();
        use.set(Use.OVER);
      }
    } catch (SQLException | RuntimeException e) {
      LOG.log(Level.DEBUG, "a connection could not be given back as it was, and is thrown away", e);
      if (use.getAndSet(Use.OVER) != Use.OVER) {
        Broken.end(connection, "a session");
      }
    }
  }

  /** Throws the connection away, at once; whoever waits for an answer on it fails. */
  void abort() {
    if (use.compareAndSet(Use.USED, Use.OVER)) {
      Broken.end(connection, "a session");
    } else if (use.get() == Use.RETURNING) {
      // who gives it back closes it, and may wait for the server in that
      Broken.hangUp(connection, "a session");
    }
  }
}
