// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of fair waiters. A waiter is a lease too: it is refreshed while its process lives, and
 * one that ended is as good as gone. Order is that of arrival, by {@code seq}, which grows within a queue.
 *
 * <p>Only fair claims stand here, and only they look here: a claim that did not ask for fairness may take a free lock
 * past the queue.
 */
final class SqliteQueue {
  static final String EVERY_COLUMN =
      "SELECT seq, name, claim, until_us, client, host, pid, thread, note, client_file FROM holdfast_waiter";

  private final PreparedStatement enter;
  private final PreparedStatement leave;
  private final PreparedStatement refresh;
  private final PreparedStatement dropDead;
  private final PreparedStatement dropSomeDead;
  private final PreparedStatement head;
  private final PreparedStatement count;
  private final PreparedStatement holds;
  private final PreparedStatement clientFile;
  private final PreparedStatement deleteAllOf;

  SqliteQueue(SqliteConnection connection) throws SQLException {
    enter = connection.prepare("""
            INSERT INTO holdfast_waiter (name, claim, until_us, client, host, pid, thread, note, client_file)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (claim) DO UPDATE SET until_us = excluded.until_us""");
    leave = connection.prepare("DELETE FROM holdfast_waiter WHERE claim = ?1");
    refresh = connection.prepare(
        "UPDATE holdfast_waiter SET until_us = ?3 WHERE claim = ?1 AND until_us > ?2");
    dropDead = connection.prepare("DELETE FROM holdfast_waiter WHERE name = ?1 AND until_us <= ?2");
    dropSomeDead = connection.prepare("DELETE FROM holdfast_waiter WHERE seq IN"
        + " (SELECT seq FROM holdfast_waiter WHERE until_us <= ?1 LIMIT ?2)");
    head = connection.prepare(
        "SELECT claim, until_us FROM holdfast_waiter WHERE name = ?1 AND until_us > ?2 ORDER BY seq LIMIT 1");
    clientFile = connection.prepare("SELECT client_file FROM holdfast_waiter WHERE claim = ?1");
    holds =
        connection.prepare("SELECT EXISTS (SELECT 1 FROM holdfast_waiter WHERE client_file = ?1)");
    deleteAllOf = connection.prepare("DELETE FROM holdfast_waiter WHERE client_file = ?1");
    count = connection.prepare(
        "SELECT count(*) FROM holdfast_waiter WHERE name = ?1 AND until_us > ?2");
  }

  /** Goes to the end of the queue, or stays where it stands already, with a full lease. */
  void enter(Claim claim, String id, @Nullable String clientFile, long untilUs)
      throws SQLException {
    Holder holder = claim.holder();
    enter.setString(1, claim.name().name());
    enter.setString(2, id);
    enter.setLong(3, untilUs);
    enter.setString(4, holder.client());
    enter.setString(5, holder.host());
    enter.setLong(6, holder.pid());
    enter.setString(7, holder.thread());
    enter.setString(8, holder.note());
    enter.setString(9, clientFile);
    enter.executeUpdate();
  }

  boolean leave(String id) throws SQLException {
    leave.setString(1, id);
    return leave.executeUpdate() == 1;
  }

  /** Extends a waiter that has not ended; false if there is none. */
  boolean refresh(String id, long nowUs, long untilUs) throws SQLException {
    refresh.setString(1, id);
    refresh.setLong(2, nowUs);
    refresh.setLong(3, untilUs);
    return refresh.executeUpdate() == 1;
  }

  void dropDead(String name, long nowUs) throws SQLException {
    dropDead.setString(1, name);
    dropDead.setLong(2, nowUs);
    dropDead.executeUpdate();
  }

  /** Deletes waiters of any lock that have ended; returns how many. */
  int dropSomeDead(long nowUs, int most) throws SQLException {
    dropSomeDead.setLong(1, nowUs);
    dropSomeDead.setInt(2, most);
    return dropSomeDead.executeUpdate();
  }

  JdbcDialect.@Nullable Head head(String name, long nowUs) throws SQLException {
    head.setString(1, name);
    head.setLong(2, nowUs);
    try (ResultSet row = head.executeQuery()) {
      return row.next() ? new JdbcDialect.Head(row.getString(1), row.getLong(2)) : null;
    }
  }

  /** The file of the client that waits with this claim; null if the row names none. */
  @Nullable
  String clientFile(String id) throws SQLException {
    clientFile.setString(1, id);
    try (ResultSet row = clientFile.executeQuery()) {
      return row.next() ? row.getString(1) : null;
    }
  }

  /** Says whether the client of this file has a waiter. */
  boolean holds(String clientFile) throws SQLException {
    holds.setString(1, clientFile);
    try (ResultSet row = holds.executeQuery()) {
      return row.next() && row.getBoolean(1);
    }
  }

  /** Deletes all waiters of the client of this file; returns how many. */
  int deleteAllOf(String clientFile) throws SQLException {
    deleteAllOf.setString(1, clientFile);
    return deleteAllOf.executeUpdate();
  }

  int count(String name, long nowUs) throws SQLException {
    count.setString(1, name);
    count.setLong(2, nowUs);
    try (ResultSet row = count.executeQuery()) {
      return row.next() ? row.getInt(1) : 0;
    }
  }
}
