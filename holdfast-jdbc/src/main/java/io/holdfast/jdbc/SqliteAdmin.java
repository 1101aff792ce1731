// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.LockInfo;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What operators, and the engine's bookkeeping, ask. */
final class SqliteAdmin {
  private static final int PAGE = 200;

  private final SqliteContext context;

  SqliteAdmin(SqliteContext context) {
    this.context = context;
  }

  Optional<LockInfo> inspect(SqliteSession session, LockKey name) throws SQLException {
    long nowUs = SqliteContext.micros(context.now());
    LockRow row = session.locks.read(name.name());
    int waiters = session.queue.count(name.name(), nowUs);
    return row == null ? Optional.empty() : row.info(waiters, nowUs);
  }

  LockPage list(SqliteSession session, String prefix, Optional<String> page) throws SQLException {
    long nowUs = SqliteContext.micros(context.now());
    List<LockInfo> found = new ArrayList<>();
    boolean more = false;
    try (PreparedStatement select = session.connection.prepare(SqliteLocks.EVERY_COLUMN
        + " WHERE name >= ?1 AND name > ?2 AND (until_us > ?3 OR EXISTS (SELECT 1 FROM holdfast_waiter w"
        + " WHERE w.name = holdfast_lock.name AND w.until_us > ?3)) ORDER BY name")) {
      select.setString(1, prefix);
      select.setString(2, page.orElse(""));
      select.setLong(3, nowUs);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          LockRow row = LockRow.of(rows.getString(1), rows);
          if (!row.name().startsWith(prefix)) {
            break;
          }
          if (found.size() == PAGE) {
            more = true;
            break;
          }
          row.info(session.queue.count(row.name(), nowUs), nowUs).ifPresent(found::add);
        }
      }
    }
    Optional<String> next =
        more ? Optional.of(found.get(found.size() - 1).name()) : Optional.empty();
    return new LockPage(found, next);
  }

  boolean evict(SqliteSession session, LockKey name, long revision) throws SQLException {
    try (PreparedStatement update =
        session.connection.prepare("UPDATE holdfast_lock SET until_us = 0, " + SqliteLocks.NOBODY
            + " WHERE name = ?1 AND rev = ?2 AND until_us > ?3")) {
      update.setString(1, name.name());
      update.setLong(2, revision);
      update.setLong(3, SqliteContext.micros(context.now()));
      return update.executeUpdate() == 1;
    }
  }

  Map<ClaimId, LockKey> own(SqliteSession session) throws SQLException {
    Map<ClaimId, LockKey> own = new HashMap<>();
    for (String table : List.of("holdfast_lock", "holdfast_waiter")) {
      // From "client-" to "client.", the next character.
      try (PreparedStatement select = session.connection.prepare("SELECT claim, name FROM " + table
          + " WHERE claim > ?1 || '-' AND claim < ?1 || '.' AND until_us > ?2")) {
        select.setString(1, context.client());
        select.setLong(2, SqliteContext.micros(context.now()));
        try (ResultSet rows = select.executeQuery()) {
          while (rows.next()) {
            own.put(ClaimId.parse(rows.getString(1)), LockKey.of(rows.getString(2)));
          }
        }
      }
    }
    return own;
  }
}
