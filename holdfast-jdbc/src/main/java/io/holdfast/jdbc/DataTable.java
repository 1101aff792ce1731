// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * The tables of the locks for data: how each is made, outside of every transaction of the application (MySQL and MariaDB
 * would commit it), and how it is told that one is missing.
 */
enum DataTable {
  FENCE(
      "holdfast_fence",
      "resource",
      ", token bigint NOT NULL",
      "FencingGuard.createTable(dataSource)"),
  ROW("holdfast_row", "name", "", "DataLocks.createTables()"),
  VERSION(
      "holdfast_version",
      "name",
      ", version bigint DEFAULT 0 NOT NULL",
      "DataLocks.createTables()");

  private final String title;
  private final String key;
  private final String others;
  private final String maker;

  DataTable(String title, String key, String others, String maker) {
    this.title = title;
    this.key = key;
    this.others = others;
    this.maker = maker;
  }

  String title() {
    return title;
  }

  /** Returns the statement that makes the table if it is not there. */
  String ddl(DatabaseKind kind) {
    return "CREATE TABLE IF NOT EXISTS " + title + " (" + kind.nameColumn(key) + others + ")"
        + kind.tableOptions();
  }

  /** Makes the table, if it is not there, on a connection of its own. */
  void create(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      OwnTransaction.autocommitted(connection, () -> create(connection));
    }
  }

  /** Makes the table, if it is not there, on a connection that commits each statement. */
  void create(Connection connection) throws SQLException {
    // first looks: an account that may not make tables can still use those that are there
    if (isThere(connection)) {
      return;
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute(ddl(DatabaseKind.of(connection)));
    } catch (SQLException e) {
      requireThere(connection, e);
    }
  }

  /** PostgreSQL: of two that make a table at once, one may fail although it said IF NOT EXISTS. */
  private void requireThere(Connection connection, SQLException failure) throws SQLException {
    if (!isThere(connection)) {
      throw failure;
    }
  }

  private boolean isThere(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT 1 FROM " + title + " WHERE 1 = 0");
      return true;
    } catch (SQLException e) {
      if (isMissing(e)) {
        return false;
      }
      throw e;
    }
  }

  private static boolean isMissing(SQLException e) {
    return "42P01".equals(e.getSQLState()) || "42S02".equals(e.getSQLState());
  }

  /** Returns what to throw for a failed statement: the failure itself, unless the table is missing. */
  SQLException explained(SQLException e, DatabaseKind kind) {
    if (isMissing(e)) {
      // PostgreSQL's transaction is broken by now: the connection cannot be asked for anything
      throw new ConfigurationException(
          "there is no table " + title + ": call " + maker + " once, at start-up, or create it",
          kind.title(),
          e);
    }
    return e;
  }
}
