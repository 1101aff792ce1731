// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * MySQL and MariaDB. Their time stands still within a statement, also while it waits for a row's lock; so that wait is
 * limited, and counts before an end is called final.
 *
 * <p>An attempt answers by {@code LAST_INSERT_ID(expression)} and never by the number of affected rows, which depends on
 * a setting of the driver. The answer is at least {@link #GRANTED} for a grant: twice its revision, plus one if others
 * wait; below it, the microseconds that the holder's lease lasts. No key at all means late. The column {@code seen_us}
 * makes each statement change the row, because an unchanged one gives no key with {@code useAffectedRows}.
 *
 * <p>Each assignment reads columns that no earlier one has changed, or that the earlier change leaves right, so that it
 * does not matter whether they are made one after another (the default) or at once (SIMULTANEOUS_ASSIGNMENT).
 */
final class MySqlDialect extends ServerDialect {
  private static final String NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

  private static final long GRANTED = 1L << 50;

  /** More than any lease, in microseconds, and less than what means a grant. */
  private static final long LONGEST_LEFT = 1L << 49;

  private static final String DDL_LOCK = "'holdfast ddl'";

  /** The server's code for a lock that did not come in time. */
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final int SYNTAX_ERROR = 1064;

  /**
   * What the wait for a row's or a table's lock can add to the age of a statement's time: each is limited to a second,
   * which the server counts coarsely, and there can be several.
   */
  private static final long STALE_US = 5_000_000;

  /**
   * The server waits for a row for a second, which it counts coarsely, and cannot wait for less: if the driver hung up first,
   * the client could not tell that a row is locked.
   */
  private static final int LEAST_TIMEOUT_MILLIS = 2500;

  private static final String TAKE =
      """
      UPDATE {lock} SET answer = LAST_INSERT_ID(GREATEST(rev + 1, {now}) * 2 + OTHERS),
        wanted_us = IF(wanted_by = ?, 0, wanted_us), rev = GREATEST(rev + 1, {now}), since_us = {now}, until_us = {now} + ?,
        claim = ?, client = ?, host = ?, pid = ?, thread = ?, note = ?
      WHERE name = ? AND until_us <= {now} AND {now} < ?""".replace("OTHERS", "IF(wanted_us > {now} AND wanted_by <> ?, 1, 0)");

  private static final String ATTEMPT = """
      INSERT INTO {lock} (name, answer, rev, claim, since_us, until_us,
        client, host, pid, thread, note, wanted_us, wanted_by, seen_us)
      SELECT ?, LAST_INSERT_ID(IF(d.ok, d.us * 2, 1)), IF(d.ok, d.us, 0), IF(d.ok, ?, NULL), d.us,
        IF(d.ok, d.us + ?, 0), d.c, d.h, d.p, d.t, d.n, 0, NULL, d.us
      FROM (SELECT {now} AS us, IS_FIRST AS ok, ? AS c, ? AS h, ? AS p, ? AS t, ? AS n) d WHERE d.us < ?
      ON DUPLICATE KEY UPDATE
        answer = LAST_INSERT_ID(CASE
          WHEN until_us > d.us AND claim = ? THEN rev * 2 + OTHERS
          WHEN until_us > d.us THEN LEAST(until_us - d.us, LONGEST)
          WHEN d.ok THEN GREATEST(rev + 1, d.us) * 2 + OTHERS
          ELSE 1 END),
        wanted_by = IF(WAITS, ?, wanted_by),
        wanted_us = IF(WAITS, d.us + ?, IF(FREE AND wanted_by = ?, 0, wanted_us)),
        rev = IF(FREE, GREATEST(rev + 1, d.us), rev),
        since_us = IF(FREE, d.us, since_us),
        client = IF(FREE, d.c, client),
        host = IF(FREE, d.h, host),
        pid = IF(FREE, d.p, pid),
        thread = IF(FREE, d.t, thread),
        note = IF(FREE, d.n, note),
        claim = IF(FREE, ?, claim),
        until_us = IF(until_us > d.us, IF(claim = ?, GREATEST(until_us, d.us + ?), until_us), IF(d.ok, d.us + ?, until_us)),
        seen_us = d.us""".replace("FREE", "until_us <= d.us AND d.ok")
      .replace("WAITS", "? AND until_us > d.us AND claim IS NOT NULL AND LEFT(claim, 32) <> ?")
      .replace("OTHERS", "IF(wanted_us > d.us AND wanted_by <> ?, 1, 0)")
      .replace("LONGEST", Long.toString(LONGEST_LEFT));

  private static final String ANY = ATTEMPT.replace("IS_FIRST", "1");
  private static final String IN_TURN = ATTEMPT.replace("IS_FIRST", FIRST);

  private static final String END = "UPDATE {lock} SET answer = LAST_INSERT_ID({now} * 2 + IF("
      + OTHERS_WAIT + ", 1, 0)), until_us = IF(? > 0, since_us + ?, 0), " + NOBODY
      + ", seen_us = {now} WHERE name = ? AND claim = ? AND until_us > {now}";

  private static final String ENTER =
      INTO_QUEUE + "ON DUPLICATE KEY UPDATE until_us = GREATEST({waiter}.until_us, q.until_us)";

  MySqlDialect() {
    super(NOW);
  }

  @Override
  void bindName(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setBytes(at, name.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  String readName(ResultSet row, int at) throws SQLException {
    return new String(Objects.requireNonNull(row.getBytes(at), "name"), StandardCharsets.UTF_8);
  }

  private PreparedStatement withKey(JdbcSession session, String sql) throws SQLException {
    return session.prepareWithKey(sql, text -> session.tables().in(text.replace("{now}", NOW)));
  }

  @Override
  public String product() {
    return "MySQL or MariaDB";
  }

  @Override
  public boolean hasTable(JdbcSession session) throws SQLException {
    String meta = session.tables().meta();
    int dot = meta.indexOf('.');
    PreparedStatement select = statement(
        session,
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = coalesce(?, DATABASE())"
            + " AND table_name = ?");
    select.setString(1, dot < 0 ? null : meta.substring(0, dot));
    select.setString(2, meta.substring(dot + 1));
    try (ResultSet row = select.executeQuery()) {
      return row.next() && row.getInt(1) > 0;
    }
  }

  @Override
  public List<String> ddl(JdbcTables tables) {
    String holder = """
        client VARCHAR(200), host VARCHAR(200), pid BIGINT, thread VARCHAR(200), note VARCHAR(200)""";
    String end = ") ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4";
    String ascii = " CHARACTER SET ascii COLLATE ascii_bin";
    return List.of(
            """
            CREATE TABLE IF NOT EXISTS {lock} (
              name VARBINARY(512) NOT NULL PRIMARY KEY,
              rev BIGINT NOT NULL,
              claim VARCHAR(64)ASCII,
              since_us BIGINT NOT NULL,
              until_us BIGINT NOT NULL,
              wanted_us BIGINT NOT NULL DEFAULT 0,
              wanted_by VARCHAR(64)ASCII,
              answer BIGINT NOT NULL DEFAULT 0,
              seen_us BIGINT NOT NULL DEFAULT 0,
              kept_no BIGINT NOT NULL DEFAULT 0,
              HOLDER
            """ + end,
            """
            CREATE TABLE IF NOT EXISTS {waiter} (
              seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
              name VARBINARY(512) NOT NULL,
              claim VARCHAR(64)ASCII NOT NULL,
              until_us BIGINT NOT NULL,
              HOLDER,
              UNIQUE KEY by_claim (claim),
              KEY by_name (name, seq)
            """ + end,
            """
            CREATE TABLE IF NOT EXISTS {meta} (
              id INT NOT NULL PRIMARY KEY,
              format INT NOT NULL,
              cleaned_us BIGINT NOT NULL
            """ + end,
            """
            CREATE OR REPLACE VIEW {taken} AS
            SELECT CONVERT(name USING utf8mb4) AS name, IF(claim IS NULL, 'kept', 'held') AS state,
              client, host, pid, thread, note,
              TIMESTAMPADD(MICROSECOND, since_us, '1970-01-01') AS since_utc,
              (until_us - {now}) / 1000000 AS seconds_left, rev * 256 AS token
            FROM {lock} WHERE until_us > {now}""",
            "INSERT IGNORE INTO {meta} VALUES (1, " + JdbcSchema.FORMAT + ", 0)")
        .stream()
        .map(sql ->
            tables.in(sql.replace("ASCII", ascii).replace("HOLDER", holder).replace("{now}", NOW)))
        .toList();
  }

  @Override
  public Setup setup(Connection connection) throws SQLException {
    int driverMillis = connection.getNetworkTimeout();
    if (driverMillis > 0 && driverMillis < LEAST_TIMEOUT_MILLIS) {
      connection.setNetworkTimeout(Runnable::run, LEAST_TIMEOUT_MILLIS);
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(
            "SELECT @@session.innodb_lock_wait_timeout, @@session.lock_wait_timeout, @@global.log_bin,"
                + " @@session.binlog_format")) {
      row.next();
      // a log of statements takes nothing from who reads what is committed
      boolean logsStatements = row.getInt(3) != 0 && "STATEMENT".equals(row.getString(4));
      return new Setup(!logsStatements, waits("1", "1"), waits(row.getString(1), row.getString(2)));
    }
  }

  /** For rows and for tables, in seconds. */
  private static String waits(String rows, String tables) {
    return "SET SESSION innodb_lock_wait_timeout = " + rows + ", SESSION lock_wait_timeout = "
        + tables;
  }

  @Override
  public void awaitWriters(JdbcSession session, LockKey name) {
    // an update waits for the lock of every row that it looks at
  }

  @Override
  public void alone(JdbcSession session, JdbcSession.Step step) throws SQLException {
    if (!text(session, "SELECT GET_LOCK(" + DDL_LOCK + ", 1)").equals("1")) {
      throw new SQLTransientException(
          "another process is making the tables", "HY000", LOCK_WAIT_TIMEOUT);
    }
    try {
      step.run();
    } finally {
      session.execute("SELECT RELEASE_LOCK(" + DDL_LOCK + ")");
    }
  }

  @Override
  public long staleUs() {
    return STALE_US;
  }

  @Override
  @Nullable
  Attempted take(JdbcSession session, Claim claim, long giveUpUs) throws SQLException {
    PreparedStatement update = withKey(session, TAKE);
    String client = claim.id().client();
    update.setString(1, client);
    update.setString(2, client);
    update.setLong(3, leaseUs(claim));
    update.setString(4, claim.id().toString());
    int at = bindHolder(update, 5, claim.holder());
    bindName(update, at++, claim.name().name());
    update.setLong(at, giveUpUs);
    if (update.executeUpdate() == 0) {
      return null;
    }
    long answer = answer(update);
    // without a key, which nothing that was tried leaves out, the lock is ours and its revision is asked for
    return answer < GRANTED ? null : new Attempted.Granted(answer >> 1, (answer & 1) == 1);
  }

  @Override
  Attempted ask(
      JdbcSession session, Claim claim, boolean waits, boolean inTurn, long giveUpUs, long wordUs)
      throws SQLException {
    PreparedStatement insert = withKey(session, inTurn ? IN_TURN : ANY);
    String id = claim.id().toString();
    String client = claim.id().client();
    long leaseUs = leaseUs(claim);
    int at = 1;
    bindName(insert, at++, claim.name().name());
    insert.setString(at++, id);
    insert.setLong(at++, leaseUs);
    if (inTurn) {
      bindName(insert, at++, claim.name().name());
      insert.setString(at++, id);
      insert.setString(at++, id);
    }
    at = bindHolder(insert, at, claim.holder());
    insert.setLong(at++, giveUpUs);
    insert.setString(at++, id);
    insert.setString(at++, client);
    insert.setString(at++, client);
    insert.setBoolean(at++, waits);
    insert.setString(at++, client);
    insert.setString(at++, client);
    insert.setBoolean(at++, waits);
    insert.setString(at++, client);
    insert.setLong(at++, wordUs);
    insert.setString(at++, client);
    insert.setString(at++, id);
    insert.setString(at++, id);
    insert.setLong(at++, leaseUs);
    insert.setLong(at, leaseUs);
    insert.executeUpdate();
    long answer = answer(insert);
    if (answer >= GRANTED) {
      return new Attempted.Granted(answer >> 1, (answer & 1) == 1);
    }
    return answer > 0
        ? new Attempted.Busy(answer, waits ? holder(session, claim.name()) : Optional.empty())
        : new Attempted.Late();
  }

  private Optional<Holder> holder(JdbcSession session, LockKey name) throws SQLException {
    PreparedStatement select = statement(
        session,
        "SELECT client, host, pid, thread, note FROM {lock} WHERE name = ? AND claim IS NOT NULL");
    bindName(select, 1, name.name());
    try (ResultSet row = select.executeQuery()) {
      return row.next() ? Optional.of(LockRow.holder(row, 1)) : Optional.empty();
    }
  }

  /** What the statement told by {@code LAST_INSERT_ID}; zero for nothing. */
  private static long answer(PreparedStatement statement) throws SQLException {
    try (ResultSet keys = statement.getGeneratedKeys()) {
      return keys.next() ? keys.getLong(1) : 0;
    }
  }

  @Override
  public @Nullable Freed end(JdbcSession session, Claim claim, long keepForUs) throws SQLException {
    PreparedStatement update = withKey(session, END);
    update.setString(1, claim.id().client());
    update.setLong(2, keepForUs);
    update.setLong(3, keepForUs);
    bindName(update, 4, claim.name().name());
    update.setString(5, claim.id().toString());
    if (update.executeUpdate() == 0) {
      return null;
    }
    long answer = answer(update);
    return new Freed((answer & 1) == 1, answer >> 1, false);
  }

  @Override
  boolean isLockedRow(SQLException e) {
    return e.getErrorCode() == LOCK_WAIT_TIMEOUT;
  }

  /** MySQL before 8.0 cannot pass over rows that are locked: there, any of them may be locked. */
  @Override
  Set<String> unlocked(JdbcSession session, List<String> names) throws SQLException {
    try {
      return super.unlocked(session, names);
    } catch (SQLException e) {
      if (e.getErrorCode() == SYNTAX_ERROR) {
        return Set.of();
      }
      throw e;
    }
  }

  @Override
  void keep(JdbcSession session, List<Claim> claims, long leaseUs, Map<ClaimId, Done> kept)
      throws SQLException {
    long number = session.nextNumber();
    extend(session, claims, leaseUs, number);
    readExtended(session, claims, number, kept);
  }

  /**
   * Leaves a number that only this update has: what was extended is told by it alone, wherever it is read and when. The index
   * is forced: a scan of the table, which many names may be answered with, waits for the locked row of any other lock too.
   */
  private void extend(JdbcSession session, List<Claim> claims, long leaseUs, long number)
      throws SQLException {
    String places = places(claims.size());
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} FORCE INDEX (PRIMARY) SET until_us = GREATEST(until_us, {now} + ?), kept_no = ? WHERE name IN ("
            + places + ") AND claim IN (" + places + ") AND until_us > {now}");
    update.setLong(1, leaseUs);
    update.setLong(2, number);
    int at = bindAll(names(claims), 3, (place, name) -> bindName(update, place, name));
    bindAll(ids(claims), at, update::setString);
    update.executeUpdate();
  }

  private void readExtended(
      JdbcSession session, List<Claim> claims, long number, Map<ClaimId, Done> kept)
      throws SQLException {
    String places = places(claims.size());
    PreparedStatement select = statement(
        session,
        "SELECT claim, rev, coalesce(" + OTHERS_WAIT + ", 0), {now} FROM {lock} WHERE name IN ("
            + places + ") AND claim IN (" + places + ") AND kept_no = ?");
    select.setString(1, claims.get(0).id().client());
    int at = bindAll(names(claims), 2, (place, name) -> bindName(select, place, name));
    at = bindAll(ids(claims), at, select::setString);
    select.setLong(at, number);
    readKept(select, kept);
  }

  @Override
  public void enter(JdbcSession session, Claim claim, long giveUpUs, long leaseUs)
      throws SQLException {
    enter(session, ENTER, claim, giveUpUs, leaseUs);
  }

  @Override
  PreparedStatement refresh(JdbcSession session, List<String> ids, long leaseUs)
      throws SQLException {
    String places = places(ids.size());
    PreparedStatement update = statement(
        session,
        "UPDATE {waiter} FORCE INDEX (by_claim) SET until_us = {now} + ? WHERE claim IN (" + places
            + ") AND until_us > {now}");
    update.setLong(1, leaseUs);
    bindAll(ids, 2, update::setString);
    update.executeUpdate();
    PreparedStatement select = statement(
        session, "SELECT claim FROM {waiter} WHERE claim IN (" + places + ") AND until_us > {now}");
    bindAll(ids, 1, select::setString);
    return select;
  }

  @Override
  public int deleteDeadWaiters(JdbcSession session, int most) throws SQLException {
    return statement(
            session, "DELETE FROM {waiter} WHERE until_us <= {now} ORDER BY seq LIMIT " + most)
        .executeUpdate();
  }

  @Override
  public List<Finding> diagnose(JdbcContext context, JdbcSession session) throws SQLException {
    return new MySqlDoctor(session).look();
  }

  @Override
  public JdbcErrors.Kind kind(SQLException e) {
    return JdbcErrors.mySql(e);
  }
}
