// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * Sees to it that the row of a lock is there before a transaction of the application asks for it, in a short transaction
 * of its own. Made within the application's, it would not be there for others, and be gone with a rollback; asked for in
 * vain, MySQL would lock the gap where it belongs, and nobody could make it. Rows are never removed, so what was seen once
 * is not looked for again.
 */
final class KnownRows {
  /** Names that are remembered; those that come later are looked for each time. */
  private static final int MOST_KNOWN = 100_000;

  private final DataSource dataSource;
  private final DataTable table;
  private final Set<LockKey> known = ConcurrentHashMap.newKeySet();

  KnownRows(DataSource dataSource, DataTable table) {
    this.dataSource = dataSource;
    this.table = table;
  }

  void createTable() throws SQLException {
    table.create(dataSource);
  }

  /** Makes the row and its table, unless they are known to be there. */
  void make(LockKey name) throws SQLException {
    if (known.contains(name)) {
      return;
    }
    try (Connection connection = dataSource.getConnection()) {
      OwnTransaction.autocommitted(connection, () -> {
        table.create(connection);
        if (!isThere(connection, name)) {
          insert(connection, name);
        }
      });
    }
    if (known.size() < MOST_KNOWN) {
      known.add(name);
    }
  }

  /** Says that a row is not there after all: somebody has removed it. */
  void forget(LockKey name) {
    known.remove(name);
  }

  /** A plain read: it does not wait for whoever holds the row. */
  private boolean isThere(Connection connection, LockKey name) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT 1 FROM " + table.title() + " WHERE name = ?")) {
      DatabaseKind.of(connection).bindName(query, 1, name.name());
      try (ResultSet rows = query.executeQuery()) {
        return rows.next();
      }
    }
  }

  private void insert(Connection connection, LockKey name) throws SQLException {
    DatabaseKind kind = DatabaseKind.of(connection);
    String sql = "INSERT INTO " + table.title() + " (name) VALUES (?)"
        + (kind.isPostgres() ? " ON CONFLICT DO NOTHING" : "");
    LockWait wait = kind.isPostgres() ? LockWait.none() : LockWait.seconds(connection, 1);
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      kind.bindName(insert, 1, name.name());
      insert.executeUpdate();
    } catch (SQLException e) {
      // made by another process in between, and by now perhaps even held
      if (!isThere(connection, name)) {
        throw e;
      }
    } finally {
      wait.putBack();
    }
  }
}
