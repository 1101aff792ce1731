// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL. The clock is read when a statement runs, and where it matters once more after the wait for the row's lock:
 * an attempt that waited past its {@code giveUpAt} changes nothing.
 */
final class PostgresDialect extends ServerDialect {
  private static final Logger LOG = System.getLogger(PostgresDialect.class.getName());

  /** Exact to the microsecond, as a double, for centuries; {@code extract} calculates with decimals, for a microsecond. */
  private static final String NOW = micros("clock_timestamp()");

  /** When the statement arrived: the same wherever it is read, and no later than anything that the statement waited for. */
  private static final String ARRIVED = micros("statement_timestamp()");

  /** "Hold" and "fast", as the key of an advisory lock. */
  private static final String DDL_LOCK = "1215261796, 1717662580";

  /** The channel of a lock table, by the number that the database knows it by: the same for all who use it. */
  static final String CHANNEL = "'holdfast_' || {table}";

  /** Tells those who listen, and only if somebody is known to wait: who tells commits alone in the whole server. */
  private static final String TELL_OTHERS = "CASE WHEN " + OTHERS_WAIT + " THEN pg_notify("
      + CHANNEL.replace("{table}", "tableoid") + ", name) END";

  private static final String FULL_QUEUE = "54000";
  private static final String DIVISION_BY_ZERO = "22012";
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  private static final String ENTER =
      INTO_QUEUE + "ON CONFLICT (claim) DO UPDATE SET until_us = excluded.until_us";

  /**
   * The row that is found free may be locked, and nothing is looked at again after that wait unless the row was changed in
   * it. So the answer, which is made at the end, fails if it is too late, and the update with it.
   */
  private static final String TAKE = """
      UPDATE {lock} AS l SET rev = greatest(l.rev + 1, ARRIVED), claim = ?, since_us = ARRIVED, until_us = ARRIVED + ?,
        client = ?, host = ?, pid = ?, thread = ?, note = ?, wanted_us = CASE WHEN l.wanted_by = ? THEN 0 ELSE l.wanted_us END
      WHERE name = ? AND l.until_us <= ARRIVED AND ARRIVED < ?
      RETURNING rev / CASE WHEN {now} < ? THEN 1 ELSE 0 END, since_us, wanted_us, wanted_by""".replace("ARRIVED", ARRIVED);

  /**
   * Releases a lock for which no other client is known to wait. The client judges the returned word, and the next grant
   * overwrites the holder's columns: each expression and each column costs the server time.
   */
  private static final String PLAIN_RELEASE =
      "UPDATE {lock} SET until_us = 0, claim = NULL WHERE name = ? AND claim = ? AND until_us > {now}"
          + " RETURNING {now}, wanted_us, wanted_by";

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

  /** Locks for which another client waited at the last grant, renewal or release: the next release notifies by itself. */
  private final LikelyNames wanted = new LikelyNames();

  private final AtomicBoolean fullQueueSaid = new AtomicBoolean();
  private volatile boolean proxyKnown;
  private volatile boolean proxied;

  /**
   * What ends the answer of a statement that changes a lock. Relaxed, it changes its own transaction's commit, and nothing
   * else: it leaves no trace in a session, whoever owns that, and costs no round trip. A statement that changed nothing has
   * no answer, and nothing to commit.
   */
  private final String andCommit;

  PostgresDialect(Durability durability) {
    super(NOW);
    andCommit =
        durability == Durability.RELAXED ? ", set_config('synchronous_commit', 'off', true)" : "";
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

  /**
   * Behind a proxy nothing may be left in a session, which is somebody else's in a moment: neither a prepared statement, of
   * which another client may have one of the same name, nor an isolation. Statements that conflict are then repeated.
   */
  @Override
  public Setup setup(Connection connection) throws SQLException {
    if (!Pgjdbc.isBehind(connection)) {
      return Setup.NOTHING;
    }
    if (!proxyKnown) {
      proxied = isProxied(connection);
      proxyKnown = true;
    }
    if (proxied) {
      return new Setup(false, "", "", Pgjdbc.prepareNothing(connection));
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT current_setting('lock_timeout')")) {
      row.next();
      return new Setup(
          true,
          waits(longestWaitMillis(connection.getNetworkTimeout()) + "ms"),
          waits(row.getString(1)));
    }
  }

  /** Less than the driver waits: if that hung up first, the client could not tell that a row is locked. */
  private static int longestWaitMillis(int driverMillis) {
    return driverMillis == 0 ? 1000 : Math.max(1, Math.min(1000, driverMillis / 2));
  }

  /**
   * For rows and tables. A process of the server that waits for one does not notice that the driver has hung up; with no
   * limit, each repetition leaves one more of them, until the server takes no more connections of any client.
   */
  private static String waits(String longest) {
    return "SET lock_timeout = '" + longest + "'";
  }

  /** Says whether a proxy that lends sessions out stands in between: it greets with numbers of its own. */
  static boolean isProxied(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      return row.next() && row.getInt(1) != Pgjdbc.greetedPid(connection);
    }
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

  private static String micros(String time) {
    return "(date_part('epoch', " + time + ") * 1000000)::bigint";
  }

  @Override
  @Nullable
  Attempted take(JdbcSession session, Claim claim, long giveUpUs) throws SQLException {
    PreparedStatement update = statement(session, TAKE + andCommit);
    String client = claim.id().client();
    update.setString(1, claim.id().toString());
    update.setLong(2, leaseUs(claim));
    int at = bindHolder(update, 3, claim.holder());
    update.setString(at++, client);
    bindName(update, at++, claim.name().name());
    update.setLong(at++, giveUpUs);
    update.setLong(at, giveUpUs);
    try (ResultSet row = update.executeQuery()) {
      // word that was fresh when the statement arrived is fresh enough
      return row.next()
          ? granted(claim, row.getLong(1), othersWait(claim, row.getLong(2), row, 3))
          : null;
    } catch (SQLException e) {
      if (DIVISION_BY_ZERO.equals(e.getSQLState())) {
        return new Attempted.Late();
      }
      throw e;
    }
  }

  @Override
  Attempted ask(
      JdbcSession session, Claim claim, boolean waits, boolean inTurn, long giveUpUs, long wordUs)
      throws SQLException {
    PreparedStatement insert = statement(session, (inTurn ? IN_TURN : ANY) + andCommit);
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
        return granted(claim, row.getLong(2), row.getBoolean(3));
      }
      return new Attempted.Busy(
          Math.max(0, row.getLong(4)),
          row.getBoolean(5) ? Optional.of(LockRow.holder(row, 6)) : Optional.empty());
    }
  }

  private Attempted granted(Claim claim, long revision, boolean othersWait) {
    if (othersWait) {
      wanted.add(claim.name().name());
    }
    return new Attempted.Granted(revision, othersWait);
  }

  /** Returns whether another client's word is valid: column {@code at} says until when, the next one which client's it is. */
  private static boolean othersWait(Claim claim, long nowUs, ResultSet row, int at)
      throws SQLException {
    if (row.getLong(at) <= nowUs) {
      return false;
    }
    String by = row.getString(at + 1);
    return by != null && !by.equals(claim.id().client());
  }

  @Override
  public @Nullable Freed end(JdbcSession session, Claim claim, long keepForUs) throws SQLException {
    if (keepForUs <= 0 && !wanted.contains(claim.name().name())) {
      return releasePlainly(session, claim);
    }
    Freed freed;
    try {
      freed = end(session, claim, keepForUs, TELL_OTHERS);
    } catch (SQLException e) {
      requireFullQueue(e);
      freed = end(session, claim, keepForUs, "NULL");
    }
    if (freed != null && !freed.othersWait()) {
      wanted.remove(claim.name().name());
    }
    return freed;
  }

  private @Nullable Freed releasePlainly(JdbcSession session, Claim claim) throws SQLException {
    PreparedStatement update = statement(session, PLAIN_RELEASE + andCommit);
    bindName(update, 1, claim.name().name());
    update.setString(2, claim.id().toString());
    try (ResultSet row = update.executeQuery()) {
      if (!row.next()) {
        return null;
      }
      long nowUs = row.getLong(1);
      boolean othersWait = othersWait(claim, nowUs, row, 2);
      if (othersWait) {
        wanted.add(claim.name().name());
      }
      return new Freed(othersWait, nowUs, othersWait);
    }
  }

  private @Nullable Freed end(JdbcSession session, Claim claim, long keepForUs, String tell)
      throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} SET until_us = CASE WHEN ? > 0 THEN since_us + ? ELSE 0 END, " + NOBODY
            + " WHERE name = ? AND claim = ? AND until_us > {now} RETURNING coalesce("
            + OTHERS_WAIT + ", false), {now}, " + tell + andCommit);
    update.setLong(1, keepForUs);
    update.setLong(2, keepForUs);
    bindName(update, 3, claim.name().name());
    update.setString(4, claim.id().toString());
    int at = 5;
    update.setString(at++, claim.id().client());
    if (tell.equals(TELL_OTHERS)) {
      update.setString(at, claim.id().client());
    }
    try (ResultSet row = update.executeQuery()) {
      return row.next() ? new Freed(row.getBoolean(1), row.getLong(2), false) : null;
    }
  }

  @Override
  public void tell(JdbcSession session, LockKey name) throws SQLException {
    PreparedStatement notify = statement(
        session,
        "SELECT pg_notify(" + CHANNEL.replace("{table}", "'{lock}'::regclass::oid") + ", ?)");
    bindName(notify, 1, name.name());
    try {
      notify.execute();
    } catch (SQLException e) {
      requireFullQueue(e);
    }
  }

  /**
   * Somebody listens in a transaction that does not end, until the server's queue of messages is full: then whoever speaks
   * fails, and with him his whole transaction. A message is a hint, and waiters look as well.
   */
  private void requireFullQueue(SQLException e) throws SQLException {
    if (!FULL_QUEUE.equals(e.getSQLState())) {
      throw e;
    }
    if (fullQueueSaid.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "releases do not notify waiters on PostgreSQL, and these clients poll: the server's queue of notifications is"
              + " full, for as long as a session listens in an old transaction (see pg_notification_queue_usage() and"
              + " pg_stat_activity)",
          e);
    }
  }

  @Override
  public Wakeups wakeups(JdbcContext context, JdbcLane lane, Waiting waiting) {
    boolean listens = switch (context.options().listening()) {
      case ALWAYS -> true;
      case AUTO -> context.source().sparesOne();
      case NEVER -> false;
    };
    return listens ? new PostgresListener(context, lane, waiting) : Wakeups.NONE;
  }

  @Override
  public boolean canTell() {
    return true;
  }

  @Override
  boolean isLockedRow(SQLException e) {
    return LOCK_NOT_AVAILABLE.equals(e.getSQLState());
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
            + ", false), {now}" + andCommit);
    update.setLong(1, leaseUs);
    int at = bindAll(names(claims), 2, update::setString);
    at = bindAll(ids(claims), at, update::setString);
    update.setString(at, claims.get(0).id().client());
    readKept(update, kept);
    for (Claim claim : claims) {
      Done done = kept.get(claim.id());
      if (done != null && done.othersWait()) {
        wanted.add(claim.name().name());
      }
    }
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
  public List<Finding> diagnose(JdbcContext context, JdbcSession session) throws SQLException {
    return new PostgresDoctor(context, session).look();
  }

  @Override
  public JdbcErrors.Kind kind(SQLException e) {
    JdbcErrors.Kind kind = JdbcErrors.postgres(e);
    if (kind == JdbcErrors.Kind.ANEW) {
      // a statement that is not in the session where it was prepared: it is not the same session
      proxied = true;
      proxyKnown = true;
    }
    return kind;
  }
}
