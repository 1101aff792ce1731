// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.CheckReturnValue;
import io.holdfast.ConfigurationException;
import io.holdfast.Ticker;
import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a transaction of the application holds: from {@code hold} until its commit or rollback. {@link
 * DataLocks#rowLock} makes it.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * if (locks.rowLock("account:42").tryHold(connection)) { // hold(connection) waits instead
 *   withdraw(connection, 42, amount);
 * }
 * connection.commit();
 * }</pre>
 *
 * <p>Choose it to protect data in the same database: it costs one statement, needs no lease and no token, and a holder
 * that has lost it cannot write, because its transaction is over. Where the data has a row of its own that all writers
 * touch, {@code SELECT ... FOR UPDATE} on that row does the same and needs no lock with a name. Do not choose it for work
 * that takes long: a connection and a transaction stay open for all of it.
 *
 * <p>The rows are those of the table {@code holdfast_row}, which has the names only. A row is made on the first use of its
 * name in this program, by a short transaction on another connection of the data source: <b>a pool must have a second
 * connection then</b>, or {@link #makeRow} be called before. Rows stay.
 *
 * <h2>Guarantees</h2>
 *
 * At most one transaction holds a name at a time, for as long as the database runs, and across its restart and a
 * failover, since both end all transactions. What the holder before has committed is visible to whatever is read after
 * {@code hold}, as far as the isolation lets it: see below. Holding a name again in the same transaction does nothing.
 *
 * <h2>Not guaranteed</h2>
 *
 * Order: whoever waits is mostly served first come, first served, but no database promises it. Above READ COMMITTED
 * PostgreSQL would show what was there before the wait: this is refused. MySQL and MariaDB show under REPEATABLE READ, the
 * default there, what was there when the transaction read for the first time: so <b>hold first, then read</b>. MariaDB, from
 * 11.6.2 on, fails instead of writing to a row that was changed since, and at SERIALIZABLE also of reading one (error 1020):
 * begin the transaction again. Two
 * transactions that hold several names in different orders deadlock, and the database ends one of them.
 *
 * <h2>Threads</h2>
 *
 * The lock is thread-safe; a connection is not.
 *
 * <h2>Failure</h2>
 *
 * All trouble but a busy lock is the {@link SQLException} of the driver: a broken connection, a deadlock (SQLState 40001,
 * 40P01), which is the caller's to repeat from the beginning of the transaction. The lock is not held then, or the
 * transaction cannot be committed. An interrupt does not end a wait, for JDBC has none; it is not lost. Give the wait a
 * limit, or end it from another thread by {@link Connection#abort}.
 */
public final class RowLock {
  private static final Duration FIRST = Duration.ZERO;

  /** MySQL's and MariaDB's code for a row that did not become free in time. */
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final long MOST_MILLIS = Integer.MAX_VALUE;

  private final LockKey name;
  private final KnownRows rows;

  RowLock(LockKey name, KnownRows rows) {
    this.name = name;
    this.rows = rows;
  }

  /**
   * Returns the name.
   *
   * @return as it was given
   */
  public String name() {
    return name.name();
  }

  /**
   * Waits until no other transaction holds the name, and holds it until this one ends; on PostgreSQL also until it is
   * rolled back to a savepoint that was made before this call. One statement. Ways to return:
   *
   * <ul>
   *   <li>normally: it is held;
   *   <li>{@link AcquireTimeoutException}: the connection's own limit came first: {@code lock_timeout} on PostgreSQL, of
   *       which there is none by default, and the transaction can then only be rolled back; {@code
   *       innodb_lock_wait_timeout} on MySQL and MariaDB, 50 s by default, and the transaction goes on;
   *   <li>{@link SQLException}: see above. With SQLState 40001 also if somebody has removed the row: the next transaction
   *       finds a new one.
   * </ul>
   *
   * @param connection the caller's, in a transaction, autocommit off
   * @throws SQLException whatever the database has to say otherwise
   * @throws AcquireTimeoutException if the wait was longer than the connection allows
   * @throws ConfigurationException if this is another kind of database
   * @throws IllegalStateException if the connection is in autocommit, or on PostgreSQL the transaction above READ
   *     COMMITTED
   */
  public void hold(Connection connection) throws SQLException {
    DatabaseKind kind = begin(connection);
    long from = Ticker.system().nanos();
    try {
      select(connection, kind, "");
    } catch (SQLException e) {
      if (isBusy(e)) {
        throw timeout(kind, from, e);
      }
      throw e;
    }
  }

  /**
   * The same, waiting for so long at most; the limit is that of this statement only. When it has passed, the transaction
   * goes on as if this had not been called, on all databases; but where MySQL or MariaDB have rolled it back for that
   * ({@code innodb_rollback_on_timeout}), SQLState 40001 says so. PostgreSQL counts the wait behind others who wait, and that
   * for the holder, each for itself. It takes five more statements for it, since a failed one breaks a transaction without a
   * savepoint; MySQL three, MariaDB none.
   *
   * @param connection the caller's, in a transaction, autocommit off
   * @param waitAtMost the limit: in milliseconds on PostgreSQL; rounded up to whole seconds on MySQL and MariaDB, which
   *     know no others. Zero or less is one look, as {@link #tryHold}
   * @throws SQLException as {@link #hold(Connection)}
   * @throws AcquireTimeoutException if another transaction held the name for all that time
   * @throws ConfigurationException as {@link #hold(Connection)}
   * @throws IllegalStateException as {@link #hold(Connection)}
   */
  public void hold(Connection connection, Duration waitAtMost) throws SQLException {
    Objects.requireNonNull(waitAtMost, "waitAtMost");
    DatabaseKind kind = begin(connection);
    long from = Ticker.system().nanos();
    SQLException busy = within(connection, kind, waitAtMost);
    if (busy != null) {
      throw timeout(kind, from, busy);
    }
  }

  /**
   * Makes one attempt, which takes as long as the database's answer: one statement, on PostgreSQL three more. It holds the
   * name until the transaction ends, unless another transaction holds it. It does not wait for that, except on MySQL before
   * 8.0, which has no such statement: there it waits for up to a second. If the name is busy, the transaction goes on as if
   * this had not been called, or SQLState 40001 says that the server rolled it back.
   *
   * @param connection the caller's, in a transaction, autocommit off
   * @return true: it is held; false: another transaction holds it
   * @throws SQLException as {@link #hold(Connection)}: never because it is busy
   * @throws ConfigurationException as {@link #hold(Connection)}
   * @throws IllegalStateException as {@link #hold(Connection)}
   */
  @CheckReturnValue
  public boolean tryHold(Connection connection) throws SQLException {
    return within(connection, begin(connection), FIRST) == null;
  }

  /**
   * Makes the row, and the table, if they are not there, on a connection of the data source: before the first use, where
   * a pool has one connection only.
   *
   * @throws SQLException whatever the database has to say; it may be repeated
   */
  public void makeRow() throws SQLException {
    rows.make(name);
  }

  private DatabaseKind begin(Connection connection) throws SQLException {
    Objects.requireNonNull(connection, "connection");
    OwnTransaction.require(connection, "a row lock");
    rows.make(name);
    return DatabaseKind.of(connection);
  }

  /** Returns why it is busy, or null. */
  private @Nullable SQLException within(Connection connection, DatabaseKind kind, Duration wait)
      throws SQLException {
    boolean looksOnce = wait.isZero() || wait.isNegative();
    if (kind.isPostgres()) {
      return postgres(connection, kind, looksOnce ? FIRST : wait);
    }
    long seconds = LockWait.wholeSeconds(wait);
    if (kind == DatabaseKind.MARIADB) {
      return mysql(connection, kind, LockWait.none(), looksOnce ? " NOWAIT" : " WAIT " + seconds);
    } else if (looksOnce && connection.getMetaData().getDatabaseMajorVersion() >= 8) {
      return mysql(connection, kind, LockWait.none(), " NOWAIT");
    }
    return mysql(connection, kind, LockWait.seconds(connection, seconds), "");
  }

  private @Nullable SQLException mysql(
      Connection connection, DatabaseKind kind, LockWait limit, String how) throws SQLException {
    try {
      select(connection, kind, how);
      return null;
    } catch (SQLException e) {
      if (!isBusy(e)) {
        throw e;
      }
      if (e.getErrorCode() == LOCK_WAIT_TIMEOUT && rollsBackOnTimeout(connection)) {
        throw new SQLTransactionRollbackException(
            "lock \"" + name
                + "\" is busy, and this server rolls back the whole transaction for that"
                + " (innodb_rollback_on_timeout); begin the transaction again",
            "40001",
            LOCK_WAIT_TIMEOUT,
            e);
      }
      return e;
    } finally {
      limit.putBack();
    }
  }

  private static boolean rollsBackOnTimeout(Connection connection) throws SQLException {
    return "1".equals(setting(connection, "SELECT @@GLOBAL.innodb_rollback_on_timeout"));
  }

  private @Nullable SQLException postgres(Connection connection, DatabaseKind kind, Duration wait)
      throws SQLException {
    refuseOldSnapshot(setting(connection, "SELECT current_setting('transaction_isolation')"));
    long millis =
        wait.toSeconds() >= MOST_MILLIS / 1000 ? MOST_MILLIS : Math.max(wait.toMillis(), 1);
    Savepoint savepoint = connection.setSavepoint();
    try {
      if (wait.equals(FIRST)) {
        select(connection, kind, " NOWAIT");
      } else {
        String before = setting(connection, "SELECT current_setting('lock_timeout')");
        setting(connection, "SELECT set_config('lock_timeout', '" + millis + "ms', true)");
        select(connection, kind, "");
        setting(connection, "SELECT set_config('lock_timeout', '" + before + "', true)");
      }
    } catch (SQLException e) {
      if (!isBusy(e)) {
        throw e;
      }
      // puts the limit back as well
      connection.rollback(savepoint);
      connection.releaseSavepoint(savepoint);
      return e;
    }
    connection.releaseSavepoint(savepoint);
    return null;
  }

  private static String setting(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private void select(Connection connection, DatabaseKind kind, String how) throws SQLException {
    String isolation = kind.isPostgres() ? "current_setting('transaction_isolation')" : "''";
    String sql = "SELECT " + isolation + " FROM holdfast_row WHERE name = ? FOR UPDATE" + how;
    try (PreparedStatement query = connection.prepareStatement(sql)) {
      kind.bindName(query, 1, name.name());
      try (ResultSet found = query.executeQuery()) {
        if (!found.next()) {
          rows.forget(name);
          throw new SQLTransactionRollbackException(
              "the row of lock \"" + name + "\" was not there; the next transaction makes it",
              "40001");
        }
        refuseOldSnapshot(found.getString(1));
      }
    }
  }

  private static void refuseOldSnapshot(String isolation) {
    if (isolation.startsWith("repeatable") || isolation.startsWith("serializable")) {
      throw new IllegalStateException(
          "a row lock needs READ COMMITTED on PostgreSQL: at " + isolation
              + " the transaction does not see what the holder before has written while this one waited");
    }
  }

  private static boolean isBusy(SQLException e) {
    return "55P03".equals(e.getSQLState())
        || e.getErrorCode() == LOCK_WAIT_TIMEOUT
        || e.getErrorCode() == 3572;
  }

  private AcquireTimeoutException timeout(DatabaseKind kind, long from, SQLException cause) {
    Duration waited = Duration.ofNanos(Ticker.system().nanos() - from);
    AcquireTimeoutException timeout =
        new AcquireTimeoutException(name.name(), kind.title(), waited, null);
    timeout.addSuppressed(cause);
    return timeout;
  }
}
