// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;

/** The databases in which locks for data can live. */
public enum DatabaseKind {
  /** PostgreSQL, 12 or newer. */
  POSTGRESQL("PostgreSQL"),
  /** MySQL, 5.7 or newer, with InnoDB. */
  MYSQL("MySQL"),
  /** MariaDB, 10.5 or newer, with InnoDB. */
  MARIADB("MariaDB");

  private final String title;

  DatabaseKind(String title) {
    this.title = title;
  }

  /** Looks at what the driver knows since it has connected: no round trip. */
  static DatabaseKind of(Connection connection) throws SQLException {
    DatabaseMetaData known = connection.getMetaData();
    String product = known.getDatabaseProductName();
    // Connector/J calls a MariaDB MySQL; its version tells
    String both = (product + " " + known.getDatabaseProductVersion()).toLowerCase(Locale.ROOT);
    if (both.contains("mariadb")) {
      return MARIADB;
    } else if (both.startsWith("mysql")) {
      return MYSQL;
    } else if (both.startsWith("postgresql")) {
      return POSTGRESQL;
    }
    throw new ConfigurationException(
        "this is made for PostgreSQL, MySQL and MariaDB, not for " + product, product, null);
  }

  String title() {
    return title;
  }

  boolean isPostgres() {
    return this == POSTGRESQL;
  }

  /** Names are bytes there: the text types of MySQL and MariaDB compare by collation, and ignore trailing blanks. */
  String nameColumn(String name) {
    return name
        + (isPostgres()
            ? " text COLLATE \"C\" PRIMARY KEY"
            : " VARBINARY(512) NOT NULL PRIMARY KEY");
  }

  /** What follows the columns of a table whose rows are locked and changed. */
  String tableOptions() {
    return isPostgres() ? "" : " ENGINE=InnoDB";
  }

  /** Binds a name so that it is compared by its bytes. */
  void bindName(PreparedStatement statement, int at, String name) throws SQLException {
    if (isPostgres()) {
      statement.setString(at, name);
    } else {
      statement.setBytes(at, name.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** What exceptions say of where the data is: no address, which may hold a password. */
  String describe(Connection connection) throws SQLException {
    String database = connection.getCatalog();
    return database == null || database.isEmpty() ? title : title + ", database " + database;
  }
}
