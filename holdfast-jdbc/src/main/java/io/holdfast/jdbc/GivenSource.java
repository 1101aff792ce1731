// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The application's own data source, which stays open. */
record GivenSource(DataSource dataSource) implements JdbcSource {
  static final String STORE = "jdbc (the application's data source)";

  @Override
  public Connection connect() throws SQLException {
    return dataSource.getConnection();
  }

  @Override
  public Connection connectAside() throws SQLException {
    return dataSource.getConnection();
  }

  @Override
  public boolean sparesOne() {
    return DataSourceRoom.isThere(dataSource);
  }

  @Override
  public boolean isOurs() {
    return false;
  }

  @Override
  public JdbcSource forRequestsOf(Duration requestTimeout, Ticker ticker) {
    return LimitedSource.of(this, requestTimeout, ticker);
  }

  @Override
  public void close() {
    // it is not ours
  }

  /** Asks what database it leads to. */
  JdbcDialect dialect(JdbcOptions options) {
    try (Connection connection = connect()) {
      return options.dialect(DatabaseKind.of(connection).isPostgres(), STORE);
    } catch (SQLException e) {
      ConnectionTrouble trouble = ConnectionTrouble.of(e);
      throw new StoreUnavailableException(
          STORE + ": it gave no connection, and so does not say what database it leads to: "
              + JdbcErrors.masked(trouble.line()),
          null,
          STORE,
          trouble.isRefusal() ? Reason.REFUSED : Reason.UNREACHABLE,
          e);
    }
  }
}
