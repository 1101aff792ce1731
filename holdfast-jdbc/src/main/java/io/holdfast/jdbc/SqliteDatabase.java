// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Opens the file, and makes sure first that it is ours.
 *
 * <p>What is not ours is not changed by a byte: a file with something in it is looked at as {@code immutable} before it
 * is opened, which takes no lock, replays no journal and makes no file beside it. Our own application id is in the file
 * itself from its first transaction on (that one is written before WAL is switched on), so this look sees it, unless the file
 * is just being written.
 * A file that is missing is made by {@link SqliteBirth}; one that is empty is filled in place.
 */
final class SqliteDatabase {
  /** Up to this size, opening looks through the whole file. It takes a few milliseconds. */
  private static final long CHECK_UP_TO_BYTES = 1 << 20;

  /** The smallest page of SQLite. It takes a smaller file for an empty one, and would overwrite it. */
  private static final long SMALLEST_PAGE = 512;

  private static final int LOOKS = 3;

  private final SqliteOptions options;
  private final String store;

  /** The file that was found good when it was first opened; further connections need not look again. */
  private volatile @Nullable Object checked;

  SqliteDatabase(SqliteOptions options, String store) {
    this.options = options;
    this.store = store;
  }

  /** A connection, and which file it is to. */
  record Opened(SqliteConnection connection, Object identity) {}

  /**
   * Opens a connection; makes the file if it is missing or empty, unless it has to be there. Any number of processes may do so at once.
   *
   * @throws SQLException only if the file is busy: try again
   * @throws StoreException if the file cannot be used
   * @throws ConfigurationException if no file there can ever be used
   */
  Opened open() throws SQLException {
    SqliteFile.checkPlace(options, store);
    try {
      if (options.makesFile()) {
        SqliteBirth.makeIfMissing(options.path(), store);
      } else if (Files.notExists(options.path())) {
        throw notThere("no such file");
      }
      return openFile();
    } catch (SQLException e) {
      if (SqliteErrors.isBusy(e)) {
        throw e;
      }
      if (e.getErrorCode() == 0 && e.getCause() != null) {
        throw new ConfigurationException(
            "SQLite's native library cannot be loaded: " + e.getCause().getMessage()
                + "; it is unpacked to java.io.tmpdir, or to where -Dorg.sqlite.tmpdir says: a folder that is writable"
                + " and not mounted noexec",
            store,
            e);
      }
      throw SqliteErrors.map(store, e);
    } catch (IOException e) {
      throw new StoreException(
          store + ": the file cannot be looked at: " + SqliteFile.reason(e)
              + "; make it and its folder readable for this user, or name another file",
          Reason.REFUSED,
          true,
          e);
    } catch (NoClassDefFoundError e) {
      throw new ConfigurationException(
          "no driver for SQLite was found; add io.holdfast:holdfast-sqlite, which brings org.xerial:sqlite-jdbc",
          store,
          e);
    }
  }

  private StoreException notThere(String what) {
    return new StoreException(
        store + ": " + what + "; check the path, or let \"holdfast run\" create it",
        Reason.UNREACHABLE,
        true,
        null);
  }

  private Opened openFile() throws SQLException, IOException {
    Object identity = SqliteFile.identity(options.path());
    long size = identity == null ? 0 : Files.size(options.path());
    if (size > 0 && size < SMALLEST_PAGE) {
      throw SqliteErrors.notADatabase(store, null);
    }
    if (size > 0) {
      look();
    }
    SqliteConnection connection = SqliteConnection.open(SqliteFile.uri(options.path(), ""));
    boolean done = false;
    try {
      requireVersion(connection);
      if (isEmpty(connection)) {
        if (!options.makesFile()) {
          throw notThere("the file is empty");
        }
        fill(connection);
      }
      switchToWal(connection);
      connection.configure();
      if (!Objects.equals(checked, identity)) {
        check(connection);
      }
      if (identity == null || SqliteFile.isReplaced(options.path(), identity)) {
        throw new StoreException(
            store + ": the file was replaced while it was opened", Reason.UNREACHABLE, true, null);
      }
      checked = identity;
      done = true;
      return new Opened(connection, identity);
    } finally {
      if (!done) {
        connection.close();
      }
    }
  }

  /** Refuses what is not ours, without a lock and without a trace. */
  private void look() throws SQLException, IOException {
    for (int looks = 1; ; looks++) {
      try (SqliteConnection look =
          SqliteConnection.open(SqliteFile.uri(options.path(), "?mode=ro&immutable=1"))) {
        if (isEmpty(look) && has("-wal")) {
          throw foreign();
        }
        return;
      } catch (SQLException e) {
        if (!SqliteErrors.isDamage(e)) {
          throw e;
        }
        // A file that was empty is being filled, or its log is being copied into it, by a program that runs or has died of it:
        // opening it waits, or completes that, and finds what is damaged all the same.
        if (has("-journal") || has("-wal")) {
          return;
        }
        // It may have been complete a moment after we looked.
        if (looks == LOOKS) {
          throw e;
        }
      }
    }
  }

  private boolean has(String suffix) throws IOException {
    Path beside = Path.of(options.path() + suffix);
    return Files.exists(beside) && Files.size(beside) > 0;
  }

  private void requireVersion(SqliteConnection connection) throws SQLException {
    String version = connection.text("SELECT sqlite_version()");
    String[] parts = version.split("\\.", 3);
    if (Integer.parseInt(parts[0]) < 3
        || (parts[0].equals("3") && Integer.parseInt(parts[1]) < 37)) {
      throw new ConfigurationException(
          "the SQLite driver on the class path brings SQLite " + version
              + "; Holdfast needs 3.37 or newer: use a newer org.xerial:sqlite-jdbc",
          store,
          null);
    }
  }

  /** Says whether there is nothing in it yet; refuses what is not ours. */
  private boolean isEmpty(SqliteConnection connection) throws SQLException {
    long application = connection.number("PRAGMA application_id");
    long format = connection.number("PRAGMA user_version");
    if (application == SqliteSchema.APPLICATION_ID) {
      if (format != SqliteSchema.FORMAT) {
        throw new StoreException(
            store + ": the file has format " + format + ", this version of Holdfast reads format "
                + SqliteSchema.FORMAT
                + (format > SqliteSchema.FORMAT
                    ? "; use the newer Holdfast that wrote it"
                    : "; move it away (with its -wal file), its locks are forgotten then")
                + ", or use another path. It was left untouched",
            Reason.DAMAGED,
            true,
            null);
      }
      return false;
    }
    if (application != 0
        || format != 0
        || connection.number("SELECT count(*) FROM sqlite_schema") != 0) {
      throw foreign();
    }
    return true;
  }

  private StoreException foreign() {
    return new StoreException(
        store
            + ": the file is a database of another program; name a file of its own for the locks. It was left untouched",
        Reason.DAMAGED,
        true,
        null);
  }

  private void fill(SqliteConnection connection) throws SQLException {
    connection.execute("BEGIN EXCLUSIVE");
    try {
      // Somebody else may have been faster, or may have put something else there.
      if (isEmpty(connection)) {
        for (String statement : SqliteSchema.statements()) {
          connection.execute(statement);
        }
      }
      connection.commit();
    } catch (SQLException | RuntimeException e) {
      connection.rollbackAfter(e);
      throw e;
    }
  }

  private void switchToWal(SqliteConnection connection) throws SQLException {
    if (connection.text("PRAGMA journal_mode").equals("wal")) {
      return;
    }
    String mode = connection.text("PRAGMA journal_mode = WAL");
    if (!mode.equals("wal")) {
      throw new ConfigurationException(
          store + ": SQLite cannot use its write-ahead log there (the journal mode stays " + mode
              + "); choose a local file system",
          store,
          null);
    }
  }

  private void check(SqliteConnection connection) throws SQLException {
    try {
      connection.prepare(SqliteLocks.EVERY_COLUMN).close();
      connection.prepare(SqliteQueue.EVERY_COLUMN).close();
      connection.prepare("SELECT cleaned_us FROM holdfast_meta").close();
    } catch (SQLException e) {
      if (!SqliteErrors.isMismatch(e)) {
        throw e;
      }
      throw damaged(
          "its tables are not those of format " + SqliteSchema.FORMAT + " (" + e.getMessage() + ")",
          e);
    }
    long bytes = connection.number("PRAGMA page_count") * connection.number("PRAGMA page_size");
    if (bytes <= CHECK_UP_TO_BYTES) {
      String found = connection.text("PRAGMA quick_check(1)");
      if (!found.equals("ok")) {
        throw damaged(found, null);
      }
    }
  }

  private StoreException damaged(String what, @Nullable Exception cause) {
    return new StoreException(
        store + ": the file is damaged: " + what
            + "; stop the programs that use it and move it away (with its -wal file); a new one is made at the next"
            + " start. Holds in it are forgotten then. It was left untouched",
        Reason.DAMAGED,
        true,
        cause);
  }
}
