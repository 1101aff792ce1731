// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL. The clock is read when a statement runs, and where it matters once more after the wait for the row's lock:
 * an attempt that waited past its {@code giveUpAt} changes nothing.
 */
final class PostgresDialect extends ServerDialect {
  private static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

  /** "Hold" and "fast", as the key of an advisory lock. */
  private static final String DDL_LOCK = "1215261796, 1717662580";

  private static final String ENTER =
      INTO_QUEUE + "ON CONFLICT (claim) DO UPDATE SET until_us = excluded.until_us";

  private static final String ATTEMPT = """
      INSERT INTO {lock} AS l (name, rev, claim, since_us, until_us, client, host, pid, thread, note)
      SELECT ?, CASE WHEN n.ok THEN n.us ELSE 0 END, CASE WHEN n.ok THEN ? END, n.us,
        CASE WHEN n.ok THEN n.us + ? ELSE 0 END, ?, ?, ?, ?, ?
      FROM (SELECT {now} AS us, IS_FIRST AS ok) n WHERE n.us < ?
      ON CONFLICT (name) DO UPDATE SET
        rev = CASE WHEN FREE THEN greatest(l.rev + 1, excluded.rev) ELSE l.rev END,
        since_us = CASE WHEN FREE THEN excluded.since_us ELSE l.since_us END,
        claim = CASE WHEN FREE THEN excluded.claim ELSE l.claim END,
        until_us = CASE WHEN FREE THEN excluded.until_us WHEN MINE THEN greatest(l.until_us, excluded.since_us + ?) ELSE l.until_us END,
        client = CASE WHEN FREE THEN excluded.client ELSE l.client END,
        host = CASE WHEN FREE THEN excluded.host ELSE l.host END,
        pid = CASE WHEN FREE THEN excluded.pid ELSE l.pid END,
        thread = CASE WHEN FREE THEN excluded.thread ELSE l.thread END,
        note = CASE WHEN FREE THEN excluded.note ELSE l.note END,
        wanted_us = CASE WHEN WAITS THEN excluded.since_us + ?
          WHEN FREE AND l.wanted_by = ? THEN 0 ELSE l.wanted_us END,
        wanted_by = CASE WHEN WAITS THEN ? ELSE l.wanted_by END
      WHERE {now} < ?
      RETURNING coalesce(claim = ? AND until_us > {now}, false), rev, coalesce(OTHERS, false),
        until_us - {now}, claim IS NOT NULL, client, host, pid, thread, note""".replace(
          "FREE", "l.until_us <= excluded.since_us AND excluded.until_us > 0")
      .replace("MINE", "l.claim = ? AND l.until_us > excluded.since_us")
      .replace(
          "WAITS",
          "l.until_us > excluded.since_us AND l.claim IS NOT NULL AND ? AND left(l.claim, 32) <> ?")
      .replace("OTHERS", OTHERS_WAIT);

  private static final String ANY = ATTEMPT.replace("IS_FIRST", "true");
  private static final String IN_TURN = ATTEMPT.replace("IS_FIRST", FIRST);

  PostgresDialect() {
    super(NOW);
  }

  @Override
  void bindName(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setString(at, name);
  }

  @Override
  String readName(ResultSet row, int at) throws SQLException {
    return Objects.requireNonNull(row.getString(at), "name");
  }

  @Override
  public String product() {
    return "PostgreSQL";
  }

  @Override
  public boolean hasTable(JdbcSession session) throws SQLException {
    PreparedStatement select = statement(session, "SELECT to_regclass(?) IS NOT NULL");
    select.setString(1, session.tables().meta());
    try (ResultSet row = select.executeQuery()) {
      return row.next() && row.getBoolean(1);
    }
  }

  @Override
  public List<String> ddl(JdbcTables tables) {
    return List.of(
            """
            CREATE TABLE IF NOT EXISTS {lock} (
              name text COLLATE "C" PRIMARY KEY,
              rev bigint NOT NULL,
              claim text COLLATE "C",
              since_us bigint NOT NULL,
              until_us bigint NOT NULL,
              wanted_us bigint NOT NULL DEFAULT 0,
              wanted_by text COLLATE "C",
              client text, host text, pid bigint, thread text, note text
            ) WITH (fillfactor = 50)""",
            """
            CREATE TABLE IF NOT EXISTS {waiter} (
              seq bigserial PRIMARY KEY,
              name text COLLATE "C" NOT NULL,
              claim text COLLATE "C" NOT NULL UNIQUE,
              until_us bigint NOT NULL,
              client text, host text, pid bigint, thread text, note text,
              UNIQUE (name, seq)
            )""",
            """
            CREATE TABLE IF NOT EXISTS {meta} (
              id integer PRIMARY KEY CHECK (id = 1),
              format integer NOT NULL,
              cleaned_us bigint NOT NULL
            )""",
            """
            CREATE OR REPLACE VIEW {taken} AS
            SELECT name, CASE WHEN claim IS NULL THEN 'kept' ELSE 'held' END AS state,
              client, host, pid, thread, note, to_timestamp(since_us / 1e6) AS since,
              to_timestamp(until_us / 1e6) AS until, rev * 256 AS token
            FROM {lock} WHERE to_timestamp(until_us / 1e6) > clock_timestamp()""",
            "INSERT INTO {meta} VALUES (1, " + JdbcSchema.FORMAT
                + ", 0) ON CONFLICT (id) DO NOTHING")
        .stream()
        .map(tables::in)
        .toList();
  }

  @Override
  public Setup setup(Connection connection) {
    return Setup.NOTHING;
  }

  @Override
  public void awaitWriters(JdbcSession session, LockKey name) throws SQLException {
    PreparedStatement insert = statement(
        session,
        "INSERT INTO {lock} AS l (name, rev, since_us, until_us) VALUES (?, 0, 0, 0)"
            + " ON CONFLICT (name) DO UPDATE SET rev = l.rev WHERE false");
    bindName(insert, 1, name.name());
    insert.executeUpdate();
  }

  @Override
  public void alone(JdbcSession session, JdbcSession.Step step) throws SQLException {
    session.inTransaction(() -> {
      session.execute("SELECT pg_advisory_xact_lock(" + DDL_LOCK + ")");
      step.run();
    });
  }

  @Override
  public long staleUs() {
    return 0;
  }

  @Override
  public Attempted attempt(
      JdbcSession session, Claim claim, boolean waits, boolean inTurn, long giveUpUs, long wordUs)
      throws SQLException {
    PreparedStatement insert = statement(session, inTurn ? IN_TURN : ANY);
    String id = claim.id().toString();
    String client = claim.id().client();
    int at = 1;
    bindName(insert, at++, claim.name().name());
    insert.setString(at++, id);
    insert.setLong(at++, leaseUs(claim));
    at = bindHolder(insert, at, claim.holder());
    if (inTurn) {
      bindName(insert, at++, claim.name().name());
      insert.setString(at++, id);
      insert.setString(at++, id);
    }
    insert.setLong(at++, giveUpUs);
    insert.setString(at++, id);
    insert.setLong(at++, leaseUs(claim));
    insert.setBoolean(at++, waits);
    insert.setString(at++, client);
    insert.setLong(at++, wordUs);
    insert.setString(at++, client);
    insert.setBoolean(at++, waits);
    insert.setString(at++, client);
    insert.setString(at++, client);
    insert.setLong(at++, giveUpUs);
    insert.setString(at++, id);
    insert.setString(at, client);
    try (ResultSet row = insert.executeQuery()) {
      if (!row.next()) {
        return new Attempted.Late();
      }
      if (row.getBoolean(1)) {
        return new Attempted.Granted(row.getLong(2), row.getBoolean(3));
      }
      return new Attempted.Busy(
          Math.max(0, row.getLong(4)),
          row.getBoolean(5) ? Optional.of(LockRow.holder(row, 6)) : Optional.empty());
    }
  }

  @Override
  public @Nullable Done end(JdbcSession session, Claim claim, long keepForUs) throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} SET until_us = CASE WHEN ? > 0 THEN since_us + ? ELSE 0 END, " + NOBODY
            + " WHERE name = ? AND claim = ? AND until_us > {now} RETURNING rev, coalesce("
            + OTHERS_WAIT + ", false), {now}");
    update.setLong(1, keepForUs);
    update.setLong(2, keepForUs);
    bindName(update, 3, claim.name().name());
    update.setString(4, claim.id().toString());
    update.setString(5, claim.id().client());
    try (ResultSet row = update.executeQuery()) {
      return row.next() ? new Done(row.getLong(1), row.getBoolean(2), row.getLong(3)) : null;
    }
  }

  @Override
  void keep(JdbcSession session, List<Claim> claims, long leaseUs, Map<ClaimId, Done> kept)
      throws SQLException {
    String places = places(claims.size());
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} SET until_us = greatest(until_us, {now} + ?) WHERE name IN (" + places
            + ") AND claim IN ("
            + places + ") AND until_us > {now} RETURNING claim, rev, coalesce(" + OTHERS_WAIT
            + ", false), {now}");
    update.setLong(1, leaseUs);
    int at = bindAll(names(claims), 2, update::setString);
    at = bindAll(ids(claims), at, update::setString);
    update.setString(at, claims.get(0).id().client());
    readKept(update, kept);
  }

  @Override
  public void enter(JdbcSession session, Claim claim, long giveUpUs, long leaseUs)
      throws SQLException {
    enter(session, ENTER, claim, giveUpUs, leaseUs);
  }

  @Override
  PreparedStatement refresh(JdbcSession session, List<String> ids, long leaseUs)
      throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {waiter} SET until_us = {now} + ? WHERE claim IN (" + places(ids.size())
            + ") AND until_us > {now} RETURNING claim");
    update.setLong(1, leaseUs);
    bindAll(ids, 2, update::setString);
    return update;
  }

  @Override
  public int deleteDeadWaiters(JdbcSession session, int most) throws SQLException {
    return statement(
            session,
            "DELETE FROM {waiter} WHERE seq IN (SELECT seq FROM {waiter} WHERE until_us <= {now} LIMIT "
                + most + ")")
        .executeUpdate();
  }

  @Override
  public List<Finding> diagnose(JdbcSession session) throws SQLException {
    boolean replica = text(session, "SELECT pg_is_in_recovery()").equals("t");
    String fsync = text(session, "SHOW fsync");
    String commit = text(session, "SHOW synchronous_commit");
    String standbys = text(session, "SHOW synchronous_standby_names");
    String replicas = text(session, "SELECT count(*) FROM pg_stat_replication");
    return List.of(
        finding(
            !replica, "role", replica ? "replica" : "primary", "name the primary in the address"),
        finding(
            fsync.equals("on") && !commit.equals("off"),
            "durability",
            "fsync=" + fsync + ", synchronous_commit=" + commit,
            "a crash of the server can forget the last grants: set both to on"),
        finding(
            replicas.equals("0") || !standbys.isEmpty(),
            "replication",
            replicas + " replicas, synchronous_standby_names=\"" + standbys + "\"",
            "a failover to an asynchronous replica forgets the last grants: name synchronous standbys"),
        finding(
            text(session, "SHOW server_encoding").equals("UTF8"),
            "encoding",
            text(session, "SHOW server_encoding"),
            "lock names that this encoding cannot write are refused: use a database with UTF8"));
  }

  @Override
  public JdbcErrors.Kind kind(SQLException e) {
    return JdbcErrors.postgres(e);
  }
}
