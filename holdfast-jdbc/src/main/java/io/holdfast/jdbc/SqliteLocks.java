// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of locks. Each is atomic by itself, judges by the {@code nowUs} it is given, and changes
 * only what belongs to its claim, or to nobody.
 *
 * <p>An acquire and a release that nobody contests are one plain {@code UPDATE} each, without {@code RETURNING}: that
 * clause costs a fifth of a whole transaction, and there is nothing to ask. The revision is chosen here instead of in
 * the statement, which then demands that it is greater than the row's; and the statement applies only while nobody has
 * left word that he waits. Whenever it does not apply, for whatever reason, the general statements find out why.
 */
final class SqliteLocks {
  static final String EVERY_COLUMN = "SELECT " + LockRow.COLUMNS + " FROM holdfast_lock";

  private static final String TAKE = """
      UPDATE holdfast_lock SET rev = ?1, claim = ?2, since_us = ?3, until_us = ?4,
        client = ?5, host = ?6, pid = ?7, thread = ?8, note = ?9, client_file = ?11
      WHERE name = ?10 AND until_us <= ?3 AND rev < ?1 AND wanted_us <= ?3""";

  /** Grants a free lock, or confirms a hold and extends it: then revision and start stay. No row: somebody else has it. */
  private static final String GRANT = """
      INSERT INTO holdfast_lock (name, rev, claim, since_us, until_us, client, host, pid, thread, note, client_file)
      VALUES (?10, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?11)
      ON CONFLICT (name) DO UPDATE SET
        rev = CASE WHEN until_us > ?3 THEN rev ELSE max(rev + 1, excluded.rev) END,
        since_us = CASE WHEN until_us > ?3 THEN since_us ELSE excluded.since_us END,
        claim = excluded.claim, until_us = excluded.until_us,
        wanted_us = CASE WHEN wanted_by = ?12 THEN 0 ELSE wanted_us END,
        client = excluded.client, host = excluded.host, pid = excluded.pid,
        thread = excluded.thread, note = excluded.note, client_file = excluded.client_file
      WHERE until_us <= ?3 OR claim = ?2
      RETURNING rev, wanted_us > ?3 AND wanted_by <> ?12""";

  static final String NOBODY =
      "claim = NULL, client = NULL, host = NULL, pid = NULL, thread = NULL, note = NULL, client_file = NULL";

  private static final String FREE = "UPDATE holdfast_lock SET until_us = 0, " + NOBODY
      + " WHERE name = ?1 AND claim = ?2 AND until_us > ?3 AND wanted_us <= ?3";

  private static final String END =
      "UPDATE holdfast_lock SET until_us = CASE WHEN ?4 > 0 THEN since_us + ?4 ELSE 0 END, "
          + NOBODY
          + " WHERE name = ?1 AND claim = ?2 AND until_us > ?3"
          + " RETURNING wanted_us > ?3 AND wanted_by <> ?5";

  private static final String KEEP =
      "UPDATE holdfast_lock SET until_us = ?4 WHERE name = ?1 AND claim = ?2 AND until_us > ?3"
          + " RETURNING rev, wanted_us > ?3 AND wanted_by <> ?5";

  private static final String WANT =
      "UPDATE holdfast_lock SET wanted_us = ?3, wanted_by = ?4 WHERE name = ?1 AND until_us > ?2 AND claim IS NOT NULL";

  private static final String UNWANT =
      "UPDATE holdfast_lock SET wanted_us = 0 WHERE name = ?1 AND wanted_by = ?2 AND wanted_us > 0";

  private static final String CLIENT_FILE =
      "SELECT coalesce(client_file, '') FROM holdfast_lock WHERE name = ?1 AND claim = ?2";

  private static final String HOLDS =
      "SELECT EXISTS (SELECT 1 FROM holdfast_lock WHERE client_file = ?1 AND until_us > ?2)";

  private static final String FREE_ALL = "UPDATE holdfast_lock SET until_us = 0, " + NOBODY
      + " WHERE client_file = ?1 AND until_us > ?2";

  private final PreparedStatement take;
  private final PreparedStatement grant;
  private final PreparedStatement free;
  private final PreparedStatement end;
  private final PreparedStatement keep;
  private final PreparedStatement want;
  private final PreparedStatement unwant;
  private final PreparedStatement read;
  private final PreparedStatement clientFile;
  private final PreparedStatement holds;
  private final PreparedStatement freeAllOf;
  private long latestRevision;

  SqliteLocks(SqliteConnection connection) throws SQLException {
    take = connection.prepare(TAKE);
    grant = connection.prepare(GRANT);
    free = connection.prepare(FREE);
    end = connection.prepare(END);
    keep = connection.prepare(KEEP);
    want = connection.prepare(WANT);
    unwant = connection.prepare(UNWANT);
    read = connection.prepare(EVERY_COLUMN + " WHERE name = ?1");
    clientFile = connection.prepare(CLIENT_FILE);
    holds = connection.prepare(HOLDS);
    freeAllOf = connection.prepare(FREE_ALL);
  }

  /** What {@link #grant}, {@link #end} and {@link #keep} found; {@link #end} gives no revision. */
  record Done(long revision, boolean othersWait) {}

  /**
   * The revision that the next grant asks for. Within one millisecond of the clock each is one more than the one
   * before, so that a lock that goes from hand to hand fast still finds it greater than its row's.
   */
  long nextRevision(long nowUs) {
    latestRevision = Math.max(latestRevision + 1, nowUs);
    return latestRevision;
  }

  /** Takes a lock that exists, is free, and has nobody waiting; false says nothing about why not. */
  boolean take(Claim claim, String id, @Nullable String clientFile, long revision, long nowUs)
      throws SQLException {
    bindGrant(take, claim, id, clientFile, revision, nowUs);
    return take.executeUpdate() == 1;
  }

  /** Takes a lock that is free or this claim's own; null if somebody else has it. */
  @Nullable
  Done grant(Claim claim, String id, @Nullable String clientFile, long revision, long nowUs)
      throws SQLException {
    bindGrant(grant, claim, id, clientFile, revision, nowUs);
    grant.setString(12, claim.id().client());
    return done(grant);
  }

  private static void bindGrant(
      PreparedStatement to,
      Claim claim,
      String id,
      @Nullable String clientFile,
      long revision,
      long nowUs)
      throws SQLException {
    Holder holder = claim.holder();
    to.setLong(1, revision);
    to.setString(2, id);
    to.setLong(3, nowUs);
    to.setLong(4, nowUs + micros(claim));
    to.setString(5, holder.client());
    to.setString(6, holder.host());
    to.setLong(7, holder.pid());
    to.setString(8, holder.thread());
    to.setString(9, holder.note());
    to.setString(10, claim.name().name());
    to.setString(11, clientFile);
  }

  private static long micros(Claim claim) {
    return claim.lease().toNanos() / 1000;
  }

  /** Frees a lock that this claim holds and nobody waits for; false says nothing about why not. */
  boolean free(Claim claim, String id, long nowUs) throws SQLException {
    free.setString(1, claim.name().name());
    free.setString(2, id);
    free.setLong(3, nowUs);
    return free.executeUpdate() == 1;
  }

  /** Frees or keeps a lock that this claim holds; null if it does not. */
  @Nullable
  Done end(Claim claim, String id, long keepForUs, long nowUs) throws SQLException {
    end.setString(1, claim.name().name());
    end.setString(2, id);
    end.setLong(3, nowUs);
    end.setLong(4, keepForUs);
    end.setString(5, claim.id().client());
    try (ResultSet row = end.executeQuery()) {
      Done done = row.next() ? new Done(0, row.getBoolean(1)) : null;
      finish(row);
      return done;
    }
  }

  /** Extends a hold that has not ended; null if it is not there. */
  @Nullable
  Done keep(Claim claim, String id, long nowUs) throws SQLException {
    keep.setString(1, claim.name().name());
    keep.setString(2, id);
    keep.setLong(3, nowUs);
    keep.setLong(4, nowUs + micros(claim));
    keep.setString(5, claim.id().client());
    return done(keep);
  }

  private static @Nullable Done done(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      Done done = row.next() ? new Done(row.getLong(1), row.getBoolean(2)) : null;
      finish(row);
      return done;
    }
  }

  /** A statement with RETURNING commits when it has given its last row; only this tells if that failed. */
  private static void finish(ResultSet rows) throws SQLException {
    if (rows.next()) {
      throw new SQLException("more than one row for one lock");
    }
  }

  /** Leaves word that this client waits. */
  void want(String name, String client, long nowUs, long wantedUs) throws SQLException {
    want.setString(1, name);
    want.setLong(2, nowUs);
    want.setLong(3, wantedUs);
    want.setString(4, client);
    want.executeUpdate();
  }

  /** Takes back the word that this client waits. */
  void unwant(String name, String client) throws SQLException {
    unwant.setString(1, name);
    unwant.setString(2, client);
    unwant.executeUpdate();
  }

  /** The file of the client that holds a lock with this claim; empty if the row names none, null if the claim has ended. */
  @Nullable
  String clientFile(String name, String id) throws SQLException {
    clientFile.setString(1, name);
    clientFile.setString(2, id);
    try (ResultSet row = clientFile.executeQuery()) {
      return row.next() ? row.getString(1) : null;
    }
  }

  /** Says whether the client of this file holds a lock. */
  boolean holds(String clientFile, long nowUs) throws SQLException {
    holds.setString(1, clientFile);
    holds.setLong(2, nowUs);
    try (ResultSet row = holds.executeQuery()) {
      return row.next() && row.getBoolean(1);
    }
  }

  /** Frees all locks of the client of this file; returns how many. */
  int freeAllOf(String clientFile, long nowUs) throws SQLException {
    freeAllOf.setString(1, clientFile);
    freeAllOf.setLong(2, nowUs);
    return freeAllOf.executeUpdate();
  }

  @Nullable
  LockRow read(String name) throws SQLException {
    read.setString(1, name);
    try (ResultSet row = read.executeQuery()) {
      return row.next() ? LockRow.of(row.getString(1), row) : null;
    }
  }
}
