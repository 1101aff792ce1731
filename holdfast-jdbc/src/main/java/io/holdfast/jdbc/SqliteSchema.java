// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.util.ArrayList;
import java.util.List;

/**
 * What the file holds.
 *
 * <p>Times are microseconds since the epoch. A lock is taken while {@code until_us} is ahead of now; then {@code claim}
 * says by whom, or is null while a finished hold's {@code holdAtLeast} keeps the lock. A row outlives its hold: it is
 * what makes the next revision greater. {@code client_file} is that by which others see that the client has died ({@link
 * SqliteLiveness}), or is null. Names are compared by their bytes: {@code TEXT} with SQLite's default collation
 * is {@code memcmp} of UTF-8. The rows sit in the primary key itself ({@code WITHOUT ROWID}), so that a change touches
 * one page, and there is no second index that every acquire would have to change too.
 */
final class SqliteSchema {
  /** "HFlk": says that a file is ours, in the file's header. */
  static final int APPLICATION_ID = 0x48466C6B;

  /** The format, kept as {@code user_version}. A greater one is refused, never guessed. */
  static final int FORMAT = 2;

  private static final String LOCKS = """
      CREATE TABLE holdfast_lock (
        name TEXT NOT NULL PRIMARY KEY,
        rev INTEGER NOT NULL,
        claim TEXT,
        since_us INTEGER NOT NULL,
        until_us INTEGER NOT NULL,
        wanted_us INTEGER NOT NULL DEFAULT 0,
        wanted_by TEXT,
        client TEXT, host TEXT, pid INTEGER, thread TEXT, note TEXT, client_file TEXT
      ) STRICT, WITHOUT ROWID""";

  private static final String WAITERS = """
      CREATE TABLE holdfast_waiter (
        seq INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        claim TEXT NOT NULL UNIQUE,
        until_us INTEGER NOT NULL,
        client TEXT, host TEXT, pid INTEGER, thread TEXT, note TEXT, client_file TEXT
      ) STRICT""";

  private static final String WAITERS_BY_NAME =
      "CREATE INDEX holdfast_waiter_by_name ON holdfast_waiter (name, seq)";

  private static final String META = """
      CREATE TABLE holdfast_meta (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        cleaned_us INTEGER NOT NULL
      ) STRICT""";

  private static final String META_ROW = "INSERT INTO holdfast_meta VALUES (1, 0)";

  /** For operators: who holds what, in words. Holdfast itself does not read it. */
  private static final String VIEW = """
      CREATE VIEW holdfast_taken AS
      SELECT name, CASE WHEN claim IS NULL THEN 'kept' ELSE 'held' END AS state,
        client, host, pid, thread, note,
        datetime(since_us / 1e6, 'unixepoch') AS since_utc,
        round(until_us / 1e6 - (julianday('now') - 2440587.5) * 86400, 1) AS seconds_left,
        rev * 256 AS token
      FROM holdfast_lock
      WHERE until_us / 1e6 > (julianday('now') - 2440587.5) * 86400""";

  private SqliteSchema() {}

  /** The statements that fill an empty file, to be run in one transaction. */
  static List<String> statements() {
    return List.of(
        LOCKS,
        WAITERS,
        WAITERS_BY_NAME,
        META,
        META_ROW,
        VIEW,
        "PRAGMA application_id = " + APPLICATION_ID,
        "PRAGMA user_version = " + FORMAT);
  }

  /**
   * The statements for a person. The journal mode comes last: until then everything is in the file itself and not in a
   * journal beside it, where a first look without locks would not see it.
   */
  static List<String> ddl() {
    List<String> all = new ArrayList<>();
    all.add("BEGIN EXCLUSIVE");
    all.addAll(statements());
    all.add("COMMIT");
    all.add("PRAGMA journal_mode = WAL");
    return List.copyOf(all);
  }
}
