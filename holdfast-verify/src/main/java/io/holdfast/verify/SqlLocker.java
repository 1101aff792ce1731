// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The essays' locks in a table, written as the essays have them, flaws included: see {@link Protocol}. */
final class SqlLocker implements Locker, Protocol.Cleaning {
  private static final String TABLE = "holdfast_verify_textbook";

  /** Classes of SQLState. */
  private static final String KEY_IS_THERE = "23";

  private static final String ROLLED_BACK = "40";

  private final Ticker ticker = Ticker.system();
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
      statement.execute(
          "CREATE TABLE IF NOT EXISTS " + TABLE
              + " (name varchar(200) PRIMARY KEY, ends timestamp(6) NOT NULL, version bigint NOT NULL DEFAULT 0)");
    }
  }

  static boolean takes(String uri) {
    return Stream.of("jdbc:postgresql:", "jdbc:mariadb:", "jdbc:mysql:").anyMatch(uri::startsWith);
  }

  /** The driver does not know the parameters that are meant for us; and MariaDB's is there, which serves MySQL too. */
  static String driversOwn(String uri) {
    String[] parts = uri.split("\\?", 2);
    String parameters = parts.length == 1
        ? ""
        : Arrays.stream(parts[1].split("&"))
            .filter(each -> !each.startsWith("holdfast."))
            .collect(Collectors.joining("&"));
    return parts[0].replaceFirst("^jdbc:mysql:", "jdbc:mariadb:")
        + (parameters.isEmpty() ? "" : "?" + parameters);
  }

  @Override
  public Optional<Grip> acquire(String name, Duration wait, Runnable onLost) {
    try {
      if (protocol == Protocol.SQL_UNCHECKED_VERSION) {
        return byVersion(name, onLost);
      }
      if (protocol == Protocol.SQL_NO_OWNER) {
        update("DELETE FROM " + TABLE + " WHERE name = ? AND ends < current_timestamp(6)", name);
      }
      String insert = "INSERT INTO " + TABLE + " (name, ends) VALUES (?, " + ends() + ")";
      update(insert, name);
      TextbookGrip grip = () -> giveBack("DELETE FROM " + TABLE + " WHERE name = ?", name);
      return Optional.of(grip);
    } catch (SQLException e) {
      String state = String.valueOf(e.getSQLState());
      if (!state.startsWith(KEY_IS_THERE) && !state.startsWith(ROLLED_BACK)) {
        throw new IllegalStateException(e);
      }
      // another client has the lock
      return Optional.empty();
    }
  }

  private Optional<Grip> byVersion(String name, Runnable onLost) throws SQLException {
    long until = ticker.nanos() + lease.toNanos();
    OptionalLong free = versionIfFree(name);
    if (free.isEmpty()) {
      return Optional.empty();
    }
    long own = free.getAsLong() + 1;
    Protocol.passASlowNetwork();
    // the flaw: AND version = the one that was read is missing
    update(
        "UPDATE " + TABLE + " SET version = " + own + ", ends = " + ends() + " WHERE name = ?",
        name);
    String release =
        "UPDATE " + TABLE + " SET ends = current_timestamp(6) WHERE name = ? AND version = " + own;
    return Optional.of(new TimedGrip(ticker, until, onLost, () -> giveBack(release, name)));
  }

  /** Reads the version of a lock that is free; the first time its row is made. */
  private OptionalLong versionIfFree(String name) throws SQLException {
    String select =
        "SELECT version, ends <= current_timestamp(6) FROM " + TABLE + " WHERE name = ?";
    try (PreparedStatement statement = connection.prepareStatement(select)) {
      statement.setString(1, name);
      try (ResultSet row = statement.executeQuery()) {
        if (row.next()) {
          return row.getBoolean(2) ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
        }
      }
    }
    update("INSERT INTO " + TABLE + " (name, ends) VALUES (?, current_timestamp(6))", name);
    return OptionalLong.of(0);
  }

  private void giveBack(String sql, String name) {
    try {
      update(sql, name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private String ends() {
    long micros = lease.toNanos() / 1000;
    return "current_timestamp(6) + interval "
        + (isPostgres ? "'" + micros + " microseconds'" : micros + " microsecond");
  }

  private void update(String sql, String name) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, name);
      statement.executeUpdate();
    }
  }

  /** The table stays: another run may use it, also while it has no row. */
  @Override
  public void remove(List<String> locks) {
    try {
      for (String each : locks) {
        update("DELETE FROM " + TABLE + " WHERE name = ?", each);
      }
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
