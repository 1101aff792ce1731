// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The tables of the {@link FlashSale}, in any SQL database. The orders have no unique key on item and buyer on purpose:
 * in a shop they should, as the last line of defence; here it would hide what the lock does.
 */
final class SaleTables {
  /** Opens connections. */
  @FunctionalInterface
  interface Database {
    Connection connect() throws SQLException;
  }

  private final Database database;

  SaleTables(Database database) {
    this.database = database;
  }

  Connection connect() throws SQLException {
    return database.connect();
  }

  /** Makes the tables, if they are not there, and the stock. */
  void create(long item, int pieces) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "create table if not exists stock (item bigint primary key, pieces int not null)");
      statement.execute("create table if not exists account"
          + " (buyer varchar(100) primary key, newest_token bigint not null)");
      statement.execute("create table if not exists orders"
          + " (item bigint not null, buyer varchar(100) not null, token bigint not null)");
      change(
          connection,
          "insert into stock select ?, ? where not exists (select 1 from stock where item = ?)",
          item,
          pieces,
          item);
    }
  }

  /** Makes a buyer known. */
  void addAccount(String buyer) throws SQLException {
    try (Connection connection = connect()) {
      change(
          connection,
          "insert into account select ?, 0 where not exists (select 1 from account where buyer = ?)",
          buyer,
          buyer);
    }
  }

  /** Notes the token as the buyer's newest; says no if a newer one is noted. */
  boolean note(Connection connection, String buyer, long token) throws SQLException {
    return change(
            connection,
            "update account set newest_token = ? where buyer = ? and newest_token <= ?",
            token,
            buyer,
            token)
        == 1;
  }

  /** Whether the token is still the newest; it then stays so until the transaction ends. */
  boolean isNoted(Connection connection, String buyer, long token) throws SQLException {
    return change(
            connection,
            "update account set newest_token = newest_token where buyer = ? and newest_token = ?",
            buyer,
            token)
        == 1;
  }

  boolean hasOrder(Connection connection, long item, String buyer) throws SQLException {
    String sql = "select count(*) from orders where item = ? and buyer = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, item);
      statement.setString(2, buyer);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() && rows.getInt(1) > 0;
      }
    }
  }

  /** Takes one piece out of the stock; says no if there is none. */
  boolean takeOne(Connection connection, long item) throws SQLException {
    return change(
            connection, "update stock set pieces = pieces - 1 where item = ? and pieces > 0", item)
        == 1;
  }

  void addOrder(Connection connection, long item, String buyer, long token) throws SQLException {
    change(connection, "insert into orders values (?, ?, ?)", item, buyer, token);
  }

  private static int change(Connection connection, String sql, Object... parameters)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      return statement.executeUpdate();
    }
  }
}
