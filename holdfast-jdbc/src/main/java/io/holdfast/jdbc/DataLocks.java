// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.CheckReturnValue;
import io.holdfast.spi.LockKey;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Locks for data that is in the same database as the lock: no lease, no token, nothing to renew. The database itself ends
 * them, with the transaction, so that a holder that is paused, cut off or dead cannot write late.
 *
 * <pre>{@code
 * DataLocks locks = DataLocks.of(dataSource);                 // one for the program
 * connection.setAutoCommit(false);
 * locks.rowLock("account:42").hold(connection);               // waits, until the commit or rollback of another
 * withdraw(connection, 42, amount);
 * connection.commit();
 * }</pre>
 *
 * <p>For PostgreSQL, MySQL and MariaDB. Tables are made on the first use, on a connection of its own, or by {@link #ddl}.
 * docs/choosing.md compares these locks with each other and with leases. Thread-safe.
 */
public final class DataLocks {
  private final DataSource dataSource;
  private final KnownRows rows;
  private final KnownRows versions;
  private final SessionSource sessions;

  private DataLocks(DataSource dataSource) {
    this.dataSource = dataSource;
    this.rows = new KnownRows(dataSource, DataTable.ROW);
    this.versions = new KnownRows(dataSource, DataTable.VERSION);
    this.sessions = new SessionSource(dataSource);
  }

  /**
   * Makes the locks of a database. No I/O.
   *
   * @param dataSource opens connections of their own to the database that has the data, never one of a transaction that is
   *     going on; it is not closed here
   * @return the locks
   */
  public static DataLocks of(DataSource dataSource) {
    return new DataLocks(Objects.requireNonNull(dataSource, "dataSource"));
  }

  /**
   * Returns a lock that a transaction holds until it ends. No I/O.
   *
   * @param name as for every lock: 1 to 512 bytes of UTF-8 without control characters, compared by its bytes
   * @return the lock
   * @throws IllegalArgumentException if it is no such name
   */
  @CheckReturnValue
  public RowLock rowLock(String name) {
    return new RowLock(LockKey.of(name), rows);
  }

  /**
   * Returns a lock that is not held while the work is done, but looked at before its commit. No I/O.
   *
   * @param name as for {@link #rowLock}, with which it shares nothing
   * @return the lock
   * @throws IllegalArgumentException if it is no such name
   */
  @CheckReturnValue
  public OptimisticLock optimistic(String name) {
    return new OptimisticLock(LockKey.of(name), dataSource, versions);
  }

  /**
   * Returns a lock that a connection of its own holds. No I/O; needs no table.
   *
   * @param name as for {@link #rowLock}, with which it shares nothing
   * @return the lock
   * @throws IllegalArgumentException if it is no such name
   */
  @CheckReturnValue
  public SessionLock sessionLock(String name) {
    return new SessionLock(LockKey.of(name), sessions, () -> {});
  }

  /**
   * Makes the tables of these locks, if they are not there: at start-up, where the first use should not do it, or has no
   * right to.
   *
   * @throws SQLException whatever the database has to say; it may be repeated
   */
  public void createTables() throws SQLException {
    rows.createTable();
    versions.createTable();
  }

  /**
   * Returns the statements that make the tables, for teams that change their schema by other means.
   *
   * @param kind the database
   * @return statements, each followed by a semicolon and a new line
   */
  public static String ddl(DatabaseKind kind) {
    Objects.requireNonNull(kind, "kind");
    return DataTable.ROW.ddl(kind) + ";\n" + DataTable.VERSION.ddl(kind) + ";\n";
  }
}
