// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The application's own data source, which stays open. */
record GivenSource(DataSource dataSource) implements JdbcSource {
  static final String STORE = "jdbc (the application's data source)";

  @Override
  public Connection connect() throws SQLException {
    return dataSource.getConnection();
  }

  @Override
  public void close() {
    // it is not ours
  }

  /** Asks what database it leads to. */
  JdbcDialect dialect() {
    String product;
    try (Connection connection = connect()) {
      product = connection.getMetaData().getDatabaseProductName();
    } catch (SQLException e) {
      throw new StoreUnavailableException(
          STORE + ": it gave no connection, so that nobody knows what database it leads to",
          null,
          STORE,
          Reason.UNREACHABLE,
          e);
    }
    return switch (product) {
      case "PostgreSQL" -> new PostgresDialect();
      case "MySQL", "MariaDB" -> new MySqlDialect();
      default ->
        throw new ConfigurationException(
            STORE + ": it leads to " + product
                + ", where Holdfast keeps no locks; take one of PostgreSQL, MySQL and MariaDB",
            STORE,
            null);
    };
  }
}
