// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.measure.Contention;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/** The floor: one update that takes and one that frees, on a table with a key and an owner, and nothing else. */
final class PlainSql implements Peer {
  private static final String TAKE =
      "UPDATE bench_plain SET owner = ? WHERE name = ? AND owner = ''";
  private static final String FREE =
      "UPDATE bench_plain SET owner = '' WHERE name = ? AND owner = ?";

  private final HikariDataSource pool;

  PlainSql(HikariDataSource pool) {
    this.pool = pool;
    execute(
        "CREATE TABLE IF NOT EXISTS bench_plain (name VARCHAR(100) PRIMARY KEY, owner VARCHAR(100) NOT NULL)");
  }

  private void execute(String sql) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Contention.Guard lock(String name) {
    execute("DELETE FROM bench_plain WHERE name = '" + name + "'");
    execute("INSERT INTO bench_plain VALUES ('" + name + "', '')");
    return inside -> {
      update(TAKE, "me", name);
      inside.run();
      update(FREE, name, "me");
    };
  }

  private void update(String sql, String first, String second) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, first);
      statement.setString(2, second);
      if (statement.executeUpdate() != 1) {
        throw new IllegalStateException("nothing was updated");
      }
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
