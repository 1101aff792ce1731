// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.testkit.Clients;
import io.holdfast.testkit.sql.SqlKind;
import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The examples in the documentation of the locks for data and of the store on the application's own data source. */
@Tag("stores")
class ExamplesTest {
  private final long amount = 10;

  private static DataSource ready(SqlKind kind) throws SQLException {
    SqlServer server = kind.shared();
    server.dropTables();
    FencingGuard.createTable(server.dataSource());
    try (Connection connection = server.connect()) {
      execute(
          connection, "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, version BIGINT)");
      execute(connection, "INSERT INTO account VALUES (42, 100, 7)");
    }
    return server.dataSource();
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static void withdraw(Connection connection, int account, long amount)
      throws SQLException {
    execute(
        connection, "UPDATE account SET balance = balance - " + amount + " WHERE id = " + account);
  }

  private static long balance(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT balance FROM account")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void storeAndFencingGuard(SqlKind kind) throws Exception {
    DataSource dataSource = ready(kind);
    Holdfast holdfast = Holdfast.builder()
        .store(JdbcStore.using(dataSource))
        .requestTimeout(Clients.REQUEST_TIMEOUT)
        .build();
    DistributedLock lock = holdfast.lock("account:42");
    try (Hold hold = lock.acquire();
        Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      FencingGuard.check(connection, "account:42", hold.token());
      withdraw(connection, 42, amount);
      connection.commit();
    }
    holdfast.close();
    assertThat(balance(dataSource)).isEqualTo(90);
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void locksForData(SqlKind kind) throws Exception {
    DataSource dataSource = ready(kind);
    DataLocks locks = DataLocks.of(dataSource);
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      locks.rowLock("account:42").hold(connection);
      withdraw(connection, 42, amount);
      connection.commit();

      if (locks.rowLock("account:42").tryHold(connection)) {
        withdraw(connection, 42, amount);
      }
      connection.commit();
    }
    locks.optimistic("account:42").run(connection -> withdraw(connection, 42, amount));
    assertThat(balance(dataSource)).isEqualTo(70);
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void sessionLock(SqlKind kind) throws Exception {
    DataSource dataSource = ready(kind);
    DataLocks locks = DataLocks.of(dataSource);
    int files = 3;
    int printed = 0;
    try (SessionHold hold = locks.sessionLock("nightly").acquire()) {
      while (printed < files && hold.isValid()) {
        printed++;
      }
    }
    assertThat(printed).isEqualTo(files);
  }

  /** The schema is not there, and no table is made. */
  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void settings(SqlKind kind) throws Exception {
    DataSource dataSource = ready(kind);
    JdbcSettings settings =
        JdbcSettings.builder().schema("locks").createsTables(false).build();
    JdbcStore store = JdbcStore.using(dataSource, settings);
    assertThatThrownBy(() -> Holdfast.builder().store(store).build())
        .isInstanceOf(HoldfastException.class);
  }

  @ParameterizedTest
  @EnumSource(SqlKind.class)
  void versionColumn(SqlKind kind) throws Exception {
    DataSource dataSource = ready(kind);
    long version = 7;
    VersionColumn accounts = VersionColumn.of("account", "id", "version");
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      accounts.raise(connection, 42, version);
      withdraw(connection, 42, amount);
      connection.commit();
    }
    assertThat(balance(dataSource)).isEqualTo(90);
  }
}
