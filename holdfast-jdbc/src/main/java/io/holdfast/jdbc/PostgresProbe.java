// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * Finds out whether LISTEN is of use on a connection: whether what another connection says arrives there. Behind a proxy
 * that lends a session for one transaction it does not: the session that was told to listen is somebody else's by then.
 * The probe has a channel of its own, so that what such a proxy leaves listening is never spoken to.
 */
final class PostgresProbe {
  private static final int PATIENCE_MILLIS = 1_000;

  private PostgresProbe() {}

  /** What speaks, on another connection. */
  interface Speaker {
    void say(String channel) throws SQLException;
  }

  /**
   * Sends a message to a connection and waits for it. The connection listens no more after that, but for a failure: then it
   * is to be ended.
   *
   * @param opened in autocommit
   * @param speaker says something on another connection
   * @return whether it came within a second after it was sent
   */
  static boolean comesBack(Connection opened, Speaker speaker, Ticker ticker) throws SQLException {
    String channel = "holdfast_probe_" + UUID.randomUUID().toString().replace("-", "");
    execute(opened, "LISTEN \"" + channel + '"');
    speaker.say(channel);
    long said = ticker.nanos();
    long leftMillis = PATIENCE_MILLIS;
    while (leftMillis > 0) {
      for (Pgjdbc.Message each : Pgjdbc.await(opened, (int) leftMillis)) {
        if (each.channel().equals(channel)) {
          unlisten(opened, channel);
          return true;
        }
      }
      leftMillis = PATIENCE_MILLIS - (ticker.nanos() - said) / 1_000_000L;
    }
    unlisten(opened, channel);
    return false;
  }

  private static void unlisten(Connection opened, String channel) throws SQLException {
    execute(opened, "UNLISTEN \"" + channel + '"');
  }

  static void say(Connection connection, String channel) throws SQLException {
    try (PreparedStatement notify = connection.prepareStatement("SELECT pg_notify(?, '')")) {
      notify.setString(1, channel);
      notify.execute();
    }
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The channel of a table: the same for all who use it, whatever they call it, and of no other. */
  static String channel(Connection connection, JdbcTables tables) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT "
            + PostgresDialect.CHANNEL.replace(
                "{table}", "'" + tables.lock() + "'::regclass::oid"))) {
      row.next();
      return row.getString(1);
    }
  }
}
