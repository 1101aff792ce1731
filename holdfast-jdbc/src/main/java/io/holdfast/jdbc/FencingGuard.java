// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.Hold;
import io.holdfast.StaleTokenException;
import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Guards data in a database with fencing tokens: a transaction goes on only if its token is not older than the newest
 * one that was seen for its resource. So a holder that was paused beyond its lease cannot overwrite what the next one
 * has written. The holds may be of any store; the tokens of one resource must all be of one lock in one store.
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire(); Connection connection = dataSource.getConnection()) {
 *   connection.setAutoCommit(false);
 *   FencingGuard.check(connection, "account:42", hold.token());   // first of all
 *   withdraw(connection, 42, amount);
 *   connection.commit();
 * }
 * }</pre>
 *
 * <p>Choose it wherever a lease protects rows: the lease keeps others away while all is well, and the guard keeps the data
 * right when it is not. Where the data and nothing else is to be protected, a {@link RowLock} alone does it.
 *
 * <p>The newest tokens are in the table {@code holdfast_fence}, a row for each resource, which {@link #createTable} makes
 * and {@link #ddl} prints. It is looked for where the connection looks for tables without a schema. Its rows stay: a token
 * must be there for as long as somebody may come with an older one.
 *
 * <h2>Guarantees</h2>
 *
 * Once a transaction with a token has committed, no transaction with an older one passes for that resource. Of two at
 * once, one waits until the other one has ended, in either order: the row of the resource is locked from the check until
 * the end of the transaction. This holds under READ COMMITTED, REPEATABLE READ and SERIALIZABLE.
 *
 * <h2>Not guaranteed</h2>
 *
 * An older token passes while no newer one has come: the older holder then writes before the newer one, which sees what it
 * wrote, if it reads after its own check. What was read before the check may be old: on MySQL and MariaDB under REPEATABLE
 * READ also everything read after that, since the first read fixes what the transaction sees. So check first. Writes
 * without a check are not guarded; data that a restored backup or a failover has taken back takes its tokens back with it.
 *
 * <p>A check that was made behind a savepoint is undone with it: after a rollback to that savepoint (Spring's {@code
 * Propagation.NESTED} makes one) the token is forgotten, on PostgreSQL the resource is also unlocked, and what the
 * transaction writes after that is not guarded. No driver says whether there is a savepoint. So check before the first one, or
 * once more after the rollback.
 *
 * <h2>Failure</h2>
 *
 * All trouble is the {@link SQLException} of the driver, for the caller's own handling: nothing may be written then.
 */
public final class FencingGuard {
  private static final String POSTGRES = "INSERT INTO holdfast_fence AS f (resource, token)"
      + " VALUES (?, ?) ON CONFLICT (resource) DO UPDATE"
      + " SET token = greatest(f.token, excluded.token) RETURNING token";

  private static final String MYSQL = "INSERT INTO holdfast_fence (resource, token) VALUES (?, ?)"
      + " ON DUPLICATE KEY UPDATE token = GREATEST(token, ?)";

  // LAST_INSERT_ID(expr) would save this, but it is the application's, who may ask for its own later. A locking read sees
  // the newest row whatever the isolation.
  private static final String MYSQL_NEWEST =
      "SELECT token FROM holdfast_fence WHERE resource = ? FOR UPDATE";

  private FencingGuard() {}

  /**
   * Notes a token as the newest one of a resource, in the caller's transaction, and locks the resource until that
   * transaction ends. Call it before anything else in the transaction. Ways to return:
   *
   * <ul>
   *   <li>normally: no newer token was seen; an equal one may have been, since a hold writes as often as it likes. From
   *       the commit on, older tokens are refused; a rollback forgets this one;
   *   <li>{@link StaleTokenException}: a newer token was seen, and the transaction can only be rolled back. Nothing was
   *       changed, and on no database is the transaction broken by this; but the hold is over, and whatever belongs to
   *       the same work has to be given up;
   *   <li>{@link SQLException}: nothing is known; roll back. A deadlock or a serialization failure (SQLState 40001,
   *       40P01) is the caller's to repeat, from the beginning of the transaction. PostgreSQL fails so above READ
   *       COMMITTED if another transaction checked the same resource at the same time, and so does MariaDB from 11.6.2 on
   *       (error 1020) when serializable, or if the transaction has read before; MySQL and MariaDB may fail so when several
   *       come with the very first token of a resource;
   *   <li>{@link ConfigurationException}: the table is not there.
   * </ul>
   *
   * <p>If another transaction has checked the same resource, this waits for its end, for as long as the database lets it:
   * PostgreSQL's {@code lock_timeout} (none by default), {@code innodb_lock_wait_timeout} (50 s by default) on MySQL and
   * MariaDB. An interrupt does not end that wait, and is not lost. If the connection breaks, or the commit's answer is
   * lost, what holds is what the database says of that transaction; the same work may be repeated with the same token
   * as long as its hold is valid.
   *
   * <p>Costs one statement on PostgreSQL, two on MySQL and MariaDB.
   *
   * @param connection the caller's, in a transaction, autocommit off
   * @param resource what is written to; up to 512 bytes of UTF-8 without control characters, compared by its bytes
   * @param token {@link Hold#token()} of the hold under which it is written
   * @throws StaleTokenException if a newer token was seen
   * @throws SQLException whatever the database has to say otherwise
   * @throws ConfigurationException if the table is missing, or this is another kind of database
   * @throws IllegalStateException if the connection is in autocommit
   * @throws IllegalArgumentException if the resource is no such name, or the token is not positive
   */
  public static void check(Connection connection, String resource, long token) throws SQLException {
    Objects.requireNonNull(connection, "connection");
    String name = LockKey.of(resource).name();
    if (token <= 0) {
      throw new IllegalArgumentException("a token is positive, this one is " + token);
    }
    OwnTransaction.require(connection, "a fencing check");
    DatabaseKind kind = DatabaseKind.of(connection);
    long newest;
    try {
      newest = kind.isPostgres()
          ? postgres(connection, name, token)
          : mysql(connection, kind, name, token);
    } catch (SQLException e) {
      throw DataTable.FENCE.explained(e, kind);
    }
    if (newest > token) {
      throw new StaleTokenException(resource, kind.describe(connection), token, newest);
    }
  }

  private static long postgres(Connection connection, String resource, long token)
      throws SQLException {
    try (PreparedStatement note = connection.prepareStatement(POSTGRES)) {
      note.setString(1, resource);
      note.setLong(2, token);
      return token(note);
    }
  }

  private static long mysql(Connection connection, DatabaseKind kind, String resource, long token)
      throws SQLException {
    try (PreparedStatement note = connection.prepareStatement(MYSQL);
        PreparedStatement newest = connection.prepareStatement(MYSQL_NEWEST)) {
      kind.bindName(note, 1, resource);
      note.setLong(2, token);
      note.setLong(3, token);
      note.executeUpdate();
      kind.bindName(newest, 1, resource);
      return token(newest);
    }
  }

  private static long token(PreparedStatement query) throws SQLException {
    try (ResultSet rows = query.executeQuery()) {
      if (!rows.next()) {
        throw new SQLException("the row of the resource is gone, although it is locked");
      }
      return rows.getLong(1);
    }
  }

  /**
   * Forgets the tokens of a resource, in the caller's transaction: from its commit on, any token passes. For a team that
   * changes stores or renames a lock, so that tokens begin anew, and for a resource that is no more. See to it that no
   * holder of the old lock is left: its late write would pass. Waits like {@link #check} for a transaction that has
   * checked the resource. Where nothing was seen for the resource, it does nothing.
   *
   * @param connection the caller's; with autocommit it is done at once
   * @param resource the resource
   * @throws SQLException whatever the database has to say; nothing is known then, roll back
   * @throws ConfigurationException if the table is missing, or this is another kind of database
   * @throws IllegalArgumentException if the resource is no such name
   */
  public static void reset(Connection connection, String resource) throws SQLException {
    Objects.requireNonNull(connection, "connection");
    String name = LockKey.of(resource).name();
    DatabaseKind kind = DatabaseKind.of(connection);
    try (PreparedStatement forget =
        connection.prepareStatement("DELETE FROM holdfast_fence WHERE resource = ?")) {
      kind.bindName(forget, 1, name);
      forget.executeUpdate();
    } catch (SQLException e) {
      throw DataTable.FENCE.explained(e, kind);
    }
  }

  /**
   * Makes the table, if it is not there, on a connection of its own: once at start-up, as several processes may do at
   * the same time. The account needs the right to make tables only if the table is missing.
   *
   * @param dataSource opens connections
   * @throws SQLException whatever the database has to say; it may be repeated
   * @throws ConfigurationException if this is another kind of database
   */
  public static void createTable(DataSource dataSource) throws SQLException {
    Objects.requireNonNull(dataSource, "dataSource");
    DataTable.FENCE.create(dataSource);
  }

  /**
   * Returns the statement that makes the table, for teams that change their schema by other means.
   *
   * @param kind the database
   * @return one statement, without a semicolon
   */
  public static String ddl(DatabaseKind kind) {
    Objects.requireNonNull(kind, "kind");
    return DataTable.FENCE.ddl(kind);
  }
}
