// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Ticker;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The floor: what somebody would write who needs no tokens, no waiters and no holder. Two conditional updates, prepared,
 * each its own transaction, with the driver and the settings of the store.
 */
final class PlainPair implements AutoCloseable {
  private static final Ticker TICKER = Ticker.system();

  private final Connection connection;
  private final PreparedStatement take;
  private final PreparedStatement free;
  private long count;

  PlainPair(Path file) throws SQLException {
    connection = DriverManager.getConnection("jdbc:sqlite:" + file);
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = NORMAL");
      statement.execute(
          "CREATE TABLE plain (name TEXT PRIMARY KEY NOT NULL, owner TEXT, until_us INTEGER NOT NULL)");
      statement.execute("INSERT INTO plain VALUES ('order:42', NULL, 0)");
    }
    take = connection.prepareStatement(
        "UPDATE plain SET owner = ?, until_us = ? WHERE name = ? AND until_us <= ?");
    free = connection.prepareStatement(
        "UPDATE plain SET owner = NULL, until_us = 0 WHERE name = ? AND owner = ?");
  }

  void run() throws SQLException {
    String owner = "0123456789abcdef0123456789abcdef-" + count++;
    long now = TICKER.wallMillis() * 1000;
    take.setString(1, owner);
    take.setLong(2, now + 30_000_000);
    take.setString(3, "order:42");
    take.setLong(4, now);
    requireOne(take.executeUpdate());
    free.setString(1, "order:42");
    free.setString(2, owner);
    requireOne(free.executeUpdate());
  }

  private static void requireOne(int updated) {
    if (updated != 1) {
      throw new IllegalStateException("updated " + updated + " rows");
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
