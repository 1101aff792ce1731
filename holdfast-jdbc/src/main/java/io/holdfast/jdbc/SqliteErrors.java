// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What SQLite's result codes mean for a request. The driver gives the primary code as the vendor code. */
final class SqliteErrors {
  private static final int ERROR = 1;
  private static final int PERM = 3;
  private static final int BUSY = 5;
  private static final int LOCKED = 6;
  private static final int READONLY = 8;
  private static final int IOERR = 10;
  private static final int CORRUPT = 11;
  private static final int FULL = 13;
  private static final int CANTOPEN = 14;
  private static final int PROTOCOL = 15;
  private static final int AUTH = 23;
  private static final int NOTADB = 26;

  private SqliteErrors() {}

  /** Says whether somebody else has the file just now; nothing was changed, and trying again is the right thing. */
  static boolean isBusy(SQLException e) {
    int code = e.getErrorCode();
    return code == BUSY || code == LOCKED;
  }

  /** Says whether the statement does not fit the tables that are there. */
  static boolean isMismatch(SQLException e) {
    return e.getErrorCode() == ERROR;
  }

  /** Says whether the file looks damaged. */
  static boolean isDamage(SQLException e) {
    return e.getErrorCode() == CORRUPT || e.getErrorCode() == NOTADB;
  }

  /** What a request fails with that somebody else's transaction kept out for too long. */
  static StoreException busyTooLong(String store, @Nullable Throwable cause) {
    return new StoreException(
        store
            + ": another process has kept the file locked for the whole time of the request; if this goes on, look"
            + " for a stopped process that has the file open (fuser or lsof)",
        Reason.UNREACHABLE,
        true,
        cause);
  }

  /** What a request fails with that comes after {@code close()}. */
  static StoreException closed(String store) {
    return new StoreException(store + " is closed", Reason.UNREACHABLE, true, null);
  }

  /** What a request fails with if the file is something else. */
  static StoreException notADatabase(String store, @Nullable Throwable cause) {
    return new StoreException(
        store
            + ": this is no SQLite file; name another path, or move the file away. It was left untouched",
        Reason.DAMAGED,
        true,
        cause);
  }

  /** Says whether it is open how far a commit came: reading or writing the file itself failed. */
  static boolean isUnknown(SQLException e) {
    return e.getErrorCode() == IOERR;
  }

  /**
   * Turns a driver's exception into the store's. A failed statement or transaction is rolled back by SQLite, so nothing
   * was applied; only when reading or writing itself failed it is open how far a commit came.
   */
  static StoreException map(String store, SQLException e) {
    String found = store + ": " + Objects.requireNonNullElse(e.getMessage(), "no message");
    return switch (e.getErrorCode()) {
      case BUSY, LOCKED, PROTOCOL -> busyTooLong(store, e);
      case FULL ->
        failed(found + "; the disk is full: make room, nothing was changed", Reason.FULL, e);
      case PERM, READONLY, AUTH ->
        failed(
            found
                + "; the file and its folder must be writable by this user (SQLite keeps a -wal and a -shm file"
                + " beside it): change owner or mode, or choose another file",
            Reason.REFUSED,
            e);
      case CANTOPEN ->
        failed(
            found
                + "; the file, or the -wal and -shm files beside it, cannot be opened: this user must be able to write"
                + " the file and in its folder",
            Reason.REFUSED,
            e);
      case NOTADB -> notADatabase(store, e);
      case CORRUPT ->
        failed(
            found
                + "; the file is damaged: stop the programs that use it and move it away (with its -wal file); a new"
                + " one is made at the next start. Holds in it are forgotten then",
            Reason.DAMAGED,
            e);
      case IOERR ->
        new StoreException(
            found
                + "; reading or writing the file failed: look at the disk, and whether another process deleted the file"
                + " but not its -wal and -shm files while it was in use",
            Reason.UNREACHABLE,
            false,
            e);
      default -> new StoreException(found, Reason.UNREACHABLE, false, e);
    };
  }

  private static StoreException failed(String what, Reason reason, SQLException e) {
    return new StoreException(what, reason, true, e);
  }
}
