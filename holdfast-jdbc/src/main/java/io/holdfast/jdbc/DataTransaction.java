// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.WriteUnknownException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;

/** A transaction on a connection of its own: rolled back when it is closed, unless it was committed. */
final class DataTransaction implements AutoCloseable {
  private static final Logger LOG = System.getLogger(DataTransaction.class.getName());

  /** Classes of SQLState that leave open what became of a commit: connection, operator, system, a limit, nothing special. */
  private static final Set<String> UNKNOWN = Set.of("08", "57", "58", "70", "HY", "XX");

  private final Connection connection;
  private final boolean autoCommit;
  private boolean committed;

  private DataTransaction(Connection connection, boolean autoCommit) {
    this.connection = connection;
    this.autoCommit = autoCommit;
  }

  static DataTransaction begin(DataSource dataSource) throws SQLException {
    Connection connection = dataSource.getConnection();
    try {
      boolean autoCommit = connection.getAutoCommit();
      connection.setAutoCommit(false);
      return new DataTransaction(connection, autoCommit);
    } catch (SQLException | RuntimeException e) {
      try (connection) {
        throw e;
      }
    }
  }

  Connection connection() {
    return connection;
  }

  /** Commits. Throws what the database says if it has certainly not committed. */
  void commit() throws SQLException {
    try {
      connection.commit();
      committed = true;
    } catch (SQLException e) {
      String state = e.getSQLState();
      // 40003: the statement's completion is unknown; all others of its class say that it was rolled back
      if (state == null
          || state.length() < 2
          || state.equals("40003")
          || UNKNOWN.contains(state.substring(0, 2))) {
        throw new WriteUnknownException(
            "the database did not say whether it has committed", "the database", e);
      }
      throw e;
    }
  }

  @Override
  public void close() throws SQLException {
    try (connection) {
      if (!committed) {
        connection.rollback();
      }
      if (autoCommit) {
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      if (!committed) {
        throw e;
      }
      // thrown, it would look as if the work had failed
      LOG.log(Level.WARNING, "a connection could not be given back after its commit", e);
    }
  }
}
