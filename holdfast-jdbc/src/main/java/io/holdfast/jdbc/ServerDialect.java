// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockKey;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What database servers are asked in the same words, but for the reading of the clock. */
abstract class ServerDialect implements JdbcDialect {
  static final String NOBODY =
      "claim = NULL, client = NULL, host = NULL, pid = NULL, thread = NULL, note = NULL";

  /** How many names a statement takes. */
  static final int AT_ONCE = 256;

  /** For how many rows that stay locked a renewal waits, each for as long as the server's limit is. */
  private static final int MOST_WAITED_FOR = 2;

  /** Word of another client, as an expression of the row. */
  static final String OTHERS_WAIT = "(wanted_us > {now} AND wanted_by <> ?)";

  /** Whether a claim is first in line: who is not proposes nothing, neither a claim nor an end. */
  static final String FIRST = """
      NOT EXISTS (SELECT 1 FROM {waiter} w WHERE w.name = ? AND w.until_us > {now} AND w.claim <> ?
        AND w.seq < coalesce((SELECT own.seq FROM {waiter} own WHERE own.claim = ?), 9223372036854775807))""";

  private final String now;

  /** The locks that were granted when they were last asked for: the short statement is tried there first. */
  private final LikelyNames granted = new LikelyNames();

  /**
   * Makes a dialect.
   *
   * @param now the database's time in microseconds since the epoch, as an expression
   */
  ServerDialect(String now) {
    this.now = now;
  }

  /** Prepares a statement, once for the connection; {@code {now}} and the tables' names are put in. */
  final PreparedStatement statement(JdbcSession session, String sql) throws SQLException {
    return session.prepare(sql, text -> session.tables().in(text.replace("{now}", now)));
  }

  /** Names are bound and read as what the database compares by bytes. */
  abstract void bindName(PreparedStatement statement, int at, String name) throws SQLException;

  abstract String readName(ResultSet row, int at) throws SQLException;

  /** Binds client, host, pid, thread and note. */
  static int bindHolder(PreparedStatement statement, int at, Holder holder) throws SQLException {
    statement.setString(at, storable(holder.client()));
    statement.setString(at + 1, storable(holder.host()));
    statement.setLong(at + 2, holder.pid());
    statement.setString(at + 3, storable(holder.thread()));
    statement.setString(at + 4, storable(holder.note()));
    return at + 5;
  }

  /** What is for people only must never fail a statement: no longer than the column, nothing that a database refuses. */
  private static String storable(String text) {
    String shown = text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) : text;
    return shown.indexOf('\0') < 0 ? shown : shown.replace('\0', ' ');
  }

  static final int MOST_SHOWN = 200;

  /** {@code ?, ?, ?}: as many as there are names, rounded up, so that there are few different statements. */
  static String places(int count) {
    int places = 1;
    while (places < count) {
      places *= 2;
    }
    return "?" + ", ?".repeat(places - 1);
  }

  /** Binds some texts to {@link #places}; the last one fills what was rounded up. Returns the next place. */
  static int bindAll(List<String> texts, int at, Binder binder) throws SQLException {
    int next = at;
    int places = 1;
    while (places < texts.size()) {
      places *= 2;
    }
    for (int i = 0; i < places; i++) {
      binder.bind(next++, texts.get(Math.min(i, texts.size() - 1)));
    }
    return next;
  }

  interface Binder {
    void bind(int at, String text) throws SQLException;
  }

  static <T> List<List<T>> chunks(Collection<T> all) {
    List<T> list = new ArrayList<>(all);
    List<List<T>> chunks = new ArrayList<>();
    for (int i = 0; i < list.size(); i += AT_ONCE) {
      chunks.add(list.subList(i, Math.min(i + AT_ONCE, list.size())));
    }
    return chunks;
  }

  /** Claims by what a statement can only say once. */
  static <K> Map<K, List<Claim>> by(Function<Claim, K> key, Collection<Claim> claims) {
    Map<K, List<Claim>> groups = new HashMap<>();
    for (Claim claim : claims) {
      groups.computeIfAbsent(key.apply(claim), none -> new ArrayList<>()).add(claim);
    }
    return groups;
  }

  static List<String> names(Collection<Claim> claims) {
    return claims.stream().map(claim -> claim.name().name()).toList();
  }

  static List<String> ids(Collection<Claim> claims) {
    return claims.stream().map(claim -> claim.id().toString()).toList();
  }

  static long leaseUs(Claim claim) {
    return claim.lease().toNanos() / 1000;
  }

  /** The statement that goes into the queue; the database's word for "or stays there" follows it. */
  static final String INTO_QUEUE = """
      INSERT INTO {waiter} (name, claim, until_us, client, host, pid, thread, note)
      SELECT q.* FROM (SELECT ? AS name, ? AS claim, {now} + ? AS until_us, ? AS client, ? AS host, ? AS pid,
        ? AS thread, ? AS note) q WHERE q.until_us < ?
      """;

  final void enter(JdbcSession session, String sql, Claim claim, long giveUpUs, long leaseUs)
      throws SQLException {
    PreparedStatement insert = statement(session, sql);
    bindName(insert, 1, claim.name().name());
    insert.setString(2, claim.id().toString());
    insert.setLong(3, leaseUs);
    int at = bindHolder(insert, 4, claim.holder());
    insert.setLong(at, giveUpUs + leaseUs);
    insert.executeUpdate();
  }

  /**
   * Where the lock was granted the last time, a plain update comes first, which takes it if it is free: half the work of the
   * statement for all cases, which finds out why if it did not.
   */
  @Override
  public final Attempted attempt(
      JdbcSession session, Claim claim, boolean waits, boolean inTurn, long giveUpUs, long wordUs)
      throws SQLException {
    String name = claim.name().name();
    if (!inTurn && granted.contains(name)) {
      Attempted taken = take(session, claim, giveUpUs);
      if (taken != null) {
        return taken;
      }
    }
    Attempted answer = ask(session, claim, waits, inTurn, giveUpUs, wordUs);
    if (answer instanceof Attempted.Granted) {
      granted.add(name);
    } else if (answer instanceof Attempted.Busy) {
      // who waits is refused in one round trip
      granted.remove(name);
    }
    return answer;
  }

  /** Takes a lock that has a row and is free; null, and nothing changed, if it has none or is not. */
  abstract @Nullable Attempted take(JdbcSession session, Claim claim, long giveUpUs)
      throws SQLException;

  /** Does what {@link #attempt} does, with a row or without. */
  abstract Attempted ask(
      JdbcSession session, Claim claim, boolean waits, boolean inTurn, long giveUpUs, long wordUs)
      throws SQLException;

  @Override
  public final Extended keep(
      JdbcSession session, Collection<Claim> claims, Set<ClaimId> lockedBefore)
      throws SQLException {
    Extended extended = new Extended(new HashMap<>(), new HashSet<>());
    List<Claim> perhapsLocked = new ArrayList<>();
    List<Claim> others = new ArrayList<>();
    for (Claim claim : claims) {
      (lockedBefore.contains(claim.id()) ? perhapsLocked : others).add(claim);
    }
    for (Map.Entry<Long, List<Claim>> group : by(ServerDialect::leaseUs, others).entrySet()) {
      for (List<Claim> some : chunks(group.getValue())) {
        try {
          keep(session, some, group.getKey(), extended.held());
        } catch (SQLException e) {
          if (!isLockedRow(e)) {
            throw e;
          }
          keepUnlocked(session, some, group.getKey(), extended, perhapsLocked);
        }
      }
    }
    keepOneByOne(session, perhapsLocked, extended);
    return extended;
  }

  /** Extends those whose rows are not locked just now: to wait for one that stays locked would lose all the others. */
  private void keepUnlocked(
      JdbcSession session,
      List<Claim> claims,
      long leaseUs,
      Extended extended,
      List<Claim> perhapsLocked)
      throws SQLException {
    Set<String> unlocked = unlocked(session, names(claims));
    List<Claim> some = new ArrayList<>();
    List<Claim> others = new ArrayList<>();
    for (Claim claim : claims) {
      (unlocked.contains(claim.name().name()) ? some : others).add(claim);
    }
    if (!some.isEmpty()) {
      keep(session, some, leaseUs, extended.held());
    }
    if (others.size() == 1) {
      // the one that was waited for already
      extended.locked().add(others.get(0).id());
    } else {
      perhapsLocked.addAll(others);
    }
  }

  /** What many ask for is locked nearly always, for a moment each: it is waited for, as long as not too many stay locked. */
  private void keepOneByOne(JdbcSession session, List<Claim> claims, Extended extended)
      throws SQLException {
    // not always the same ones before the first that stays locked
    Collections.shuffle(claims);
    int waitedFor = 0;
    for (Claim claim : claims) {
      if (waitedFor == MOST_WAITED_FOR) {
        extended.locked().add(claim.id());
        continue;
      }
      try {
        keep(session, List.of(claim), leaseUs(claim), extended.held());
      } catch (SQLException e) {
        if (!isLockedRow(e)) {
          throw e;
        }
        waitedFor++;
        extended.locked().add(claim.id());
      }
    }
  }

  /** Returns those of some names whose rows nobody has locked; a name without a row is missing too. */
  Set<String> unlocked(JdbcSession session, List<String> names) throws SQLException {
    PreparedStatement select = statement(
        session,
        "SELECT name FROM {lock} WHERE name IN (" + places(names.size())
            + ") FOR UPDATE SKIP LOCKED");
    bindAll(names, 1, (at, name) -> bindName(select, at, name));
    Set<String> unlocked = new HashSet<>();
    try (ResultSet row = select.executeQuery()) {
      while (row.next()) {
        unlocked.add(readName(row, 1));
      }
    }
    return unlocked;
  }

  /** Says whether a statement was given up because others kept a row locked for too long. */
  abstract boolean isLockedRow(SQLException e);

  /** Extends holds of one lease, as many as a statement takes; adds those that were extended. */
  abstract void keep(JdbcSession session, List<Claim> claims, long leaseUs, Map<ClaimId, Done> kept)
      throws SQLException;

  /** Reads what was extended: claim, revision, whether others wait, the time. */
  static void readKept(PreparedStatement query, Map<ClaimId, Done> kept) throws SQLException {
    try (ResultSet row = query.executeQuery()) {
      while (row.next()) {
        kept.put(
            ClaimId.parse(row.getString(1)),
            new Done(row.getLong(2), row.getBoolean(3), row.getLong(4)));
      }
    }
  }

  @Override
  public final Set<ClaimId> refresh(JdbcSession session, Collection<Claim> claims, long leaseUs)
      throws SQLException {
    Set<ClaimId> refreshed = new HashSet<>();
    for (List<Claim> some : chunks(claims)) {
      try (ResultSet row = refresh(session, ids(some), leaseUs).executeQuery()) {
        while (row.next()) {
          refreshed.add(ClaimId.parse(row.getString(1)));
        }
      }
    }
    return refreshed;
  }

  /** Returns what extends waiters and yields those that were extended, or does the one and returns the other. */
  abstract PreparedStatement refresh(JdbcSession session, List<String> ids, long leaseUs)
      throws SQLException;

  @Override
  public long now(JdbcSession session) throws SQLException {
    try (ResultSet row = statement(session, "SELECT {now}").executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  @Override
  public Read read(JdbcSession session, Collection<LockKey> names) throws SQLException {
    Map<String, LockRow> rows = new HashMap<>();
    long nowUs = Long.MAX_VALUE;
    for (List<LockKey> some : chunks(names)) {
      PreparedStatement select = statement(
          session,
          "SELECT " + LockRow.COLUMNS + ", {now} FROM {lock} WHERE name IN (" + places(some.size())
              + ")");
      bindAll(
          some.stream().map(LockKey::name).toList(), 1, (at, name) -> bindName(select, at, name));
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          LockRow row = LockRow.of(readName(found, 1), found);
          rows.put(row.name(), row);
          nowUs = Math.min(nowUs, found.getLong(13));
        }
      }
    }
    return new Read(rows, rows.isEmpty() ? now(session) : nowUs);
  }

  @Override
  public void want(JdbcSession session, Collection<String> names, String client, long lastsUs)
      throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} SET wanted_us = {now} + ?, wanted_by = ? WHERE name = ? AND until_us > {now}"
            + " AND claim IS NOT NULL");
    for (String name : names) {
      update.setLong(1, lastsUs);
      update.setString(2, client);
      bindName(update, 3, name);
      update.executeUpdate();
    }
  }

  @Override
  public boolean unwant(JdbcSession session, LockKey name, String client) throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} SET wanted_us = 0 WHERE name = ? AND wanted_by = ? AND wanted_us > 0");
    bindName(update, 1, name.name());
    update.setString(2, client);
    return update.executeUpdate() == 1;
  }

  @Override
  public boolean leave(JdbcSession session, ClaimId claim) throws SQLException {
    PreparedStatement delete = statement(session, "DELETE FROM {waiter} WHERE claim = ?");
    delete.setString(1, claim.toString());
    return delete.executeUpdate() == 1;
  }

  @Override
  public @Nullable Head head(JdbcSession session, LockKey name) throws SQLException {
    PreparedStatement select = statement(
        session,
        "SELECT claim, until_us FROM {waiter} WHERE name = ? AND until_us > {now} ORDER BY seq LIMIT 1");
    bindName(select, 1, name.name());
    try (ResultSet row = select.executeQuery()) {
      return row.next() ? new Head(row.getString(1), row.getLong(2)) : null;
    }
  }

  @Override
  public Map<String, Integer> waiters(JdbcSession session, Collection<String> names)
      throws SQLException {
    Map<String, Integer> counts = new HashMap<>();
    for (List<String> some : chunks(names)) {
      PreparedStatement select = statement(
          session,
          "SELECT name, count(*) FROM {waiter} WHERE name IN (" + places(some.size())
              + ") AND until_us > {now} GROUP BY name");
      bindAll(some, 1, (at, name) -> bindName(select, at, name));
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          counts.put(readName(row, 1), row.getInt(2));
        }
      }
    }
    return counts;
  }

  @Override
  public List<LockRow> list(JdbcSession session, String prefix, String after, int most)
      throws SQLException {
    PreparedStatement select = statement(
        session,
        "SELECT " + LockRow.COLUMNS
            + " FROM {lock} WHERE name >= ? AND name > ? AND (until_us > {now}"
            + " OR EXISTS (SELECT 1 FROM {waiter} w WHERE w.name = {lock}.name AND w.until_us > {now}))"
            + " ORDER BY name LIMIT " + most);
    bindName(select, 1, prefix);
    bindName(select, 2, after);
    List<LockRow> found = new ArrayList<>();
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        LockRow row = LockRow.of(readName(rows, 1), rows);
        if (!row.name().startsWith(prefix)) {
          break;
        }
        found.add(row);
      }
    }
    return found;
  }

  @Override
  public boolean evict(JdbcSession session, LockKey name, long revision) throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {lock} SET until_us = 0, " + NOBODY
            + " WHERE name = ? AND rev = ? AND until_us > {now}");
    bindName(update, 1, name.name());
    update.setLong(2, revision);
    return update.executeUpdate() == 1;
  }

  @Override
  public boolean mayClean(JdbcSession session, long everyUs) throws SQLException {
    PreparedStatement update = statement(
        session,
        "UPDATE {meta} SET cleaned_us = {now} WHERE id = 1 AND (cleaned_us <= {now} - ? OR cleaned_us > {now} + ?)");
    update.setLong(1, everyUs);
    update.setLong(2, everyUs);
    return update.executeUpdate() == 1;
  }

  /** A row that is not taken, whose revision the clock has left behind by the retention: its tokens cannot come back. */
  private static final String IS_OLD = "until_us <= {now} AND rev < {now} - ?";

  @Override
  public Scan scan(JdbcSession session, String after, long retentionUs, int most)
      throws SQLException {
    PreparedStatement select = statement(
        session,
        "SELECT name, CASE WHEN " + IS_OLD
            + " THEN 1 ELSE 0 END FROM {lock} WHERE name > ? ORDER BY name LIMIT " + most);
    select.setLong(1, retentionUs);
    bindName(select, 2, after);
    List<String> old = new ArrayList<>();
    String last = "";
    try (ResultSet row = select.executeQuery()) {
      while (row.next()) {
        last = readName(row, 1);
        if (row.getInt(2) == 1) {
          old.add(last);
        }
      }
    }
    return new Scan(old, last);
  }

  @Override
  public int delete(JdbcSession session, List<String> names, long retentionUs) throws SQLException {
    PreparedStatement delete =
        statement(session, "DELETE FROM {lock} WHERE name = ? AND " + IS_OLD);
    int deleted = 0;
    for (String name : names) {
      bindName(delete, 1, name);
      delete.setLong(2, retentionUs);
      deleted += delete.executeUpdate();
    }
    return deleted;
  }

  /** A server's setting, or another single value. */
  static String text(JdbcSession session, String sql) throws SQLException {
    try (Statement statement = session.connection().createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? String.valueOf(row.getString(1)) : "";
    }
  }

  static Finding finding(boolean good, String subject, String message, String advice) {
    return new Finding(good ? Level.OK : Level.WARNING, subject, message, good ? "" : advice);
  }
}
