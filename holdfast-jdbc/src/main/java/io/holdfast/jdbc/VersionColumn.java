// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A version in a column of the application's own rows: who changes a row raises its version, on condition that it is still
 * the one that was read.
 *
 * <pre>{@code
 * VersionColumn accounts = VersionColumn.of("account", "id", "version");
 * // read: SELECT balance, version FROM account WHERE id = 42
 * accounts.raise(connection, 42, version);         // first; nobody else can change the row from here on
 * // UPDATE account SET balance = ... WHERE id = 42
 * connection.commit();
 * }</pre>
 *
 * <p>Choose it where conflicts are rare and a row has the data; nothing is locked while the user thinks. All writers of the
 * row have to raise its version. Immutable, thread-safe.
 */
public final class VersionColumn {
  private static final Pattern IDENTIFIER = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_$]*");

  private final String table;
  private final String sql;

  private VersionColumn(String table, String id, String version) {
    this.table = table;
    this.sql = "UPDATE " + table + " SET " + version + " = " + version + " + 1 WHERE " + id
        + " = ? AND " + version + " = ?";
  }

  /**
   * Names the column. No I/O.
   *
   * @param table the table; its schema before a dot, if it needs one
   * @param id the column that identifies a row
   * @param version the column of an integer type that has the version
   * @return the column
   * @throws IllegalArgumentException if a name is not letters, digits and underscores: it becomes a part of a statement
   */
  public static VersionColumn of(String table, String id, String version) {
    Objects.requireNonNull(table, "table");
    Objects.requireNonNull(id, "id");
    Objects.requireNonNull(version, "version");
    for (String part : table.split("\\.", -1)) {
      check(part);
    }
    check(id);
    check(version);
    return new VersionColumn(table, id, version);
  }

  private static void check(String identifier) {
    if (!IDENTIFIER.matcher(identifier).matches()) {
      throw new IllegalArgumentException("not a plain SQL identifier: " + identifier);
    }
  }

  /**
   * Raises the version of a row by one, if it is still what was read. In a transaction the row is then locked until its
   * end. Waits for a transaction that is changing the row, as long as the database lets it, and an interrupt does not end
   * that. Ways to return:
   *
   * <ul>
   *   <li>normally: the version was what was read, and is raised with the commit;
   *   <li>{@link VersionConflictException}: it was not, or there is no such row. Nothing was changed; the transaction is to
   *       be rolled back, and to begin with reading again. Within {@link OptimisticLock#run} that is what happens;
   *   <li>{@link SQLException}: nothing is known; roll back. A serialization failure, with which PostgreSQL (SQLState 40001)
   *       and MariaDB from 11.6.2 on (error 1020) say the same above READ COMMITTED, or a deadlock is the caller's to repeat,
   *       from reading on.
   * </ul>
   *
   * @param connection the caller's; with autocommit it is done at once
   * @param id the row's value in the identifying column
   * @param version what was read
   * @throws SQLException whatever the database has to say
   * @throws VersionConflictException if the version is another one by now
   */
  public void raise(Connection connection, Object id, long version) throws SQLException {
    Objects.requireNonNull(connection, "connection");
    Objects.requireNonNull(id, "id");
    int raised;
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      update.setObject(1, id);
      update.setLong(2, version);
      // a found row is always a changed one, so it does not matter which of the two a driver counts
      raised = update.executeUpdate();
    }
    if (raised == 0) {
      throw new VersionConflictException(
          "row " + id + " of " + table, DatabaseKind.of(connection).title(), 1);
    }
  }
}
