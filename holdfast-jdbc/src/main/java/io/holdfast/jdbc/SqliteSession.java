// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** An open connection with its prepared statements, and which file it is to. */
final class SqliteSession implements AutoCloseable {
  final SqliteConnection connection;
  final SqliteLocks locks;
  final SqliteQueue queue;
  final Object identity;
  private final PreparedStatement dataVersion;

  private SqliteSession(SqliteConnection connection, Object identity) throws SQLException {
    this.connection = connection;
    this.identity = identity;
    locks = new SqliteLocks(connection);
    queue = new SqliteQueue(connection);
    dataVersion = connection.prepare("PRAGMA data_version");
  }

  /** Opens a session; throws as {@link SqliteDatabase#open()} does. */
  static SqliteSession open(SqliteDatabase database) throws SQLException {
    SqliteDatabase.Opened opened = database.open();
    try {
      return new SqliteSession(opened.connection(), opened.identity());
    } catch (SQLException e) {
      opened.connection().close();
      throw e;
    }
  }

  /** A number that changes when another connection, of any process, has changed the file. */
  long dataVersion() throws SQLException {
    try (ResultSet row = dataVersion.executeQuery()) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
