// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.testkit.sql.SqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** What a MySQL or a MariaDB counts of its clients' statements, without the question for that. */
final class QuestionsCounter implements Counter, AutoCloseable {
  private final Connection connection;
  private long asked;

  QuestionsCounter(SqlServer server) {
    try {
      connection = server.superuserDataSource().getConnection();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Map<String, Long> now() {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Questions'")) {
      row.next();
      asked++;
      return Map.of("statements", row.getLong(2) - asked);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
