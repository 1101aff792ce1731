// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Statements of ours on a connection that a pool lends: its autocommit is put back as it was. */
final class OwnTransaction {
  /** What is done there. */
  @FunctionalInterface
  interface Statements {
    void run() throws SQLException;
  }

  private OwnTransaction() {}

  /** Runs statements that are committed one by one. */
  static void autocommitted(Connection connection, Statements statements) throws SQLException {
    boolean before = connection.getAutoCommit();
    if (!before) {
      connection.setAutoCommit(true);
    }
    try {
      statements.run();
    } finally {
      if (!before) {
        connection.setAutoCommit(false);
      }
    }
  }

  /** Refuses a connection without a transaction: a row lock would end with its statement. */
  static void require(Connection connection, String what) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          what + " lasts until the end of the transaction, and this connection commits"
              + " each statement: call setAutoCommit(false) first");
    }
  }
}
