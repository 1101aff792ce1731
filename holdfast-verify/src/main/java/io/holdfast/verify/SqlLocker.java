// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The textbook's locks in a table, written as the textbooks have them, flaws included: see {@link Protocol}. */
final class SqlLocker implements Locker, Protocol.Cleaning {
  private static final String TABLE = "holdfast_verify_textbook";

  private final Protocol protocol;
  private final Duration lease;
  private final boolean isPostgres;
  private final Connection connection;

  SqlLocker(Protocol protocol, String uri, Duration lease) {
    this.protocol = protocol;
    this.lease = lease;
    isPostgres = uri.startsWith("jdbc:postgresql:");
    try {
      connection = DriverManager.getConnection(driversOwn(uri));
      try {
        makeTable();
      } catch (SQLException e) {
        // PostgreSQL fails all but one of those that make it at once; then it is there
        makeTable();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void makeTable() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS " + TABLE
          + " (name varchar(200) PRIMARY KEY, ends timestamp(6) NOT NULL)");
    }
  }

  static boolean takes(String uri) {
    return Stream.of("jdbc:postgresql:", "jdbc:mariadb:", "jdbc:mysql:").anyMatch(uri::startsWith);
  }

  /** The driver does not know the parameters that are meant for us; and MariaDB's is there, which serves MySQL too. */
  private static String driversOwn(String uri) {
    return uri.replaceAll("([?&])holdfast\\.[^&]*&?", "$1")
        .replaceAll("[?&]$", "")
        .replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost) {
    try {
      if (protocol == Protocol.SQL_BY_NAME) {
        update("DELETE FROM " + TABLE + " WHERE name = ? AND ends < current_timestamp(6)", name);
      }
      String insert = "INSERT INTO " + TABLE
          + " (name, ends) VALUES (?, current_timestamp(6) + interval " + ends() + ")";
      update(insert, name);
      TextbookGrip grip = () -> giveBack(name);
      return Optional.of(grip);
    } catch (SQLException e) {
      // the row is there: somebody has the lock
      return Optional.empty();
    }
  }

  private void giveBack(String name) {
    try {
      update("DELETE FROM " + TABLE + " WHERE name = ?", name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private String ends() {
    long micros = lease.toNanos() / 1000;
    return isPostgres ? "'" + micros + " microseconds'" : micros + " microsecond";
  }

  private void update(String sql, String name) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, name);
      statement.executeUpdate();
    }
  }

  @Override
  public void remove(List<String> locks) {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS " + TABLE);
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
