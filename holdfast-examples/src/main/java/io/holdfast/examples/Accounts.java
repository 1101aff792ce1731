// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import javax.sql.DataSource;

/** The accounts of {@link Transfers}, in PostgreSQL, MySQL or MariaDB. */
final class Accounts {
  private static final int ATTEMPTS = 20;

  /** An account as it was read. */
  record Account(long id, long balance, long version) {}

  /** What is done in a transaction, and maybe done again, from the beginning. */
  @FunctionalInterface
  interface Work<T> {
    T run(Connection connection) throws SQLException;
  }

  private final DataSource dataSource;

  Accounts(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  DataSource dataSource() {
    return dataSource;
  }

  /** Opens accounts 1, 2, 3 and so on, with a balance each; all others are closed. */
  void open(int number, long balance) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS account"
          + " (id bigint PRIMARY KEY, balance bigint NOT NULL, version bigint DEFAULT 0 NOT NULL)");
      statement.execute("DELETE FROM account");
      for (int id = 1; id <= number; id++) {
        statement.execute("INSERT INTO account (id, balance) VALUES (" + id + ", " + balance + ")");
      }
    }
  }

  /** Reads an account, if there is one. */
  Optional<Account> read(Connection connection, long id) throws SQLException {
    return find(connection, id, "");
  }

  /** Reads an account, if there is one, and locks it until the transaction ends. */
  Optional<Account> lock(Connection connection, long id) throws SQLException {
    return find(connection, id, " FOR UPDATE");
  }

  private static Optional<Account> find(Connection connection, long id, String how)
      throws SQLException {
    String sql = "SELECT balance, version FROM account WHERE id = ?" + how;
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      select.setLong(1, id);
      try (ResultSet row = select.executeQuery()) {
        return row.next()
            ? Optional.of(new Account(id, row.getLong(1), row.getLong(2)))
            : Optional.empty();
      }
    }
  }

  /** Writes a balance, whatever it was before: the code that computes it has to know that it is still what was read. */
  void write(Connection connection, long id, long balance) throws SQLException {
    String sql = "UPDATE account SET balance = ? WHERE id = ?";
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      update.setLong(1, balance);
      update.setLong(2, id);
      update.executeUpdate();
    }
  }

  /** All the money there is. */
  long total() throws SQLException {
    return inTransaction(connection -> {
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("SELECT SUM(balance) FROM account")) {
        row.next();
        return row.getLong(1);
      }
    });
  }

  /**
   * Does work in a transaction. One that the database rolled back in favour of another (a deadlock, a serialization
   * failure) is done again, from the beginning: that is the only right way.
   */
  <T> T inTransaction(Work<T> work) throws SQLException {
    for (int attempt = 1; ; attempt++) {
      try {
        return once(work);
      } catch (SQLException e) {
        if (attempt == ATTEMPTS || e.getSQLState() == null || !e.getSQLState().startsWith("40")) {
          throw e;
        }
      }
    }
  }

  private <T> T once(Work<T> work) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      // at its default isolation MariaDB refuses, from 11.6.2 on, to lock a row that was written since the transaction's
      // first read: transfers wait at their second row, and would start over again and again
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try {
        T result = work.run(connection);
        connection.commit();
        return result;
      } catch (SQLException | RuntimeException e) {
        rollBack(connection, e);
        throw e;
      }
    }
  }

  private static void rollBack(Connection connection, Exception after) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      // the connection is gone, and the transaction with it
      after.addSuppressed(e);
    }
  }
}
