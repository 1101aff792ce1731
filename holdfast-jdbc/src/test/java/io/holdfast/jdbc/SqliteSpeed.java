// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;

/**
 * Compares an uncontended attempt and end with the plainest pair of conditional updates through the same driver and with
 * the same settings. The two take turns in short blocks, so that both meet the same machine; the medians count.
 */
final class SqliteSpeed {
  private static final int BLOCKS = 300;
  private static final int PAIRS = 200;

  private SqliteSpeed() {}

  public static void main(String[] arguments) throws Exception {
    Path folder =
        Files.createTempDirectory(Path.of(arguments.length > 0 ? arguments[0] : "."), "speed");
    try (Connection plain =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("plain.db"));
        Client client = new Client(folder.resolve("locks.db")).connect()) {
      PlainPair pair = new PlainPair(plain);
      for (int round = 0; round < 3; round++) {
        double[] plainMicros = new double[BLOCKS];
        double[] ourMicros = new double[BLOCKS];
        for (int block = 0; block < BLOCKS; block++) {
          long start = System.nanoTime();
          for (int i = 0; i < PAIRS; i++) {
            pair.run(i);
          }
          long middle = System.nanoTime();
          for (int i = 0; i < PAIRS; i++) {
            ours(client);
          }
          plainMicros[block] = (middle - start) / 1e3 / PAIRS;
          ourMicros[block] = (System.nanoTime() - middle) / 1e3 / PAIRS;
        }
        report(System.out, plainMicros, ourMicros);
      }
    }
  }

  private static void ours(Client client) {
    Claim claim = client.claim("order:42");
    Instant giveUpAt = client.store.time().plusSeconds(2);
    Client.get(client.store.attempt(claim, Mode.QUEUE, giveUpAt));
    Client.get(client.store.end(claim, Duration.ZERO, giveUpAt));
  }

  private static void report(PrintStream out, double[] plain, double[] ours) {
    Arrays.sort(plain);
    Arrays.sort(ours);
    for (int percent : new int[] {10, 50}) {
      double a = plain[BLOCKS * percent / 100];
      double b = ours[BLOCKS * percent / 100];
      out.printf(
          "p%d: plain pair %.1f us, attempt and end %.1f us, ratio %.2f%n", percent, a, b, a / b);
    }
  }

  /** What somebody would write who needs no tokens, no waiters and no holder. */
  private static final class PlainPair {
    private final PreparedStatement take;
    private final PreparedStatement free;

    PlainPair(Connection connection) throws SQLException {
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

    void run(int i) throws SQLException {
      String owner = "0123456789abcdef0123456789abcdef-" + i;
      long now = System.currentTimeMillis() * 1000;
      take.setString(1, owner);
      take.setLong(2, now + 30_000_000);
      take.setString(3, "order:42");
      take.setLong(4, now);
      require(take.executeUpdate());
      free.setString(1, "order:42");
      free.setString(2, owner);
      require(free.executeUpdate());
    }

    private static void require(int updated) {
      if (updated != 1) {
        throw new IllegalStateException("updated " + updated + " rows");
      }
    }
  }
}
