// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the codes of the databases mean for a request. */
final class JdbcErrors {
  /** A driver may quote an address that it does not understand. */
  private static final Pattern PASSWORD = Pattern.compile("(?i)(password\\s*=\\s*)[^,;&)\\s]*");

  /** MariaDB's, from 11.6.2 on: a transaction has written to a row that was changed since it first read. */
  private static final int RECORD_HAS_CHANGED = 1020;

  private JdbcErrors() {}

  /** What happened to a statement. */
  enum Kind {
    /** Rolled back in favour of another one: nothing was changed, and the same again is the right thing. */
    AGAIN,
    /** The same, on another connection: this one is not the server's any more that its driver takes it for. */
    ANEW,
    /** The connection is gone; what was under way may have been done. */
    BROKEN,
    /** The server takes no more connections. */
    TOO_MANY,
    /** The server is a replica, or only reads just now: nothing was changed, another one may be the primary. */
    READ_ONLY,
    /** Login, permission, a database that is not there. */
    REFUSED,
    FULL,
    /** A table of ours is not there. */
    NO_TABLE,
    OTHER
  }

  static Kind postgres(SQLException e) {
    String state = Objects.requireNonNullElse(e.getSQLState(), "");
    return switch (state) {
      case "40001", "40P01", "55P03", "57014" -> Kind.AGAIN;
      case "26000", "42P05" -> Kind.ANEW;
      case "57P01", "57P02", "57P03" -> Kind.BROKEN;
      case "53300" -> Kind.TOO_MANY;
      case "53100", "53200", "53400" -> Kind.FULL;
      case "25006" -> Kind.READ_ONLY;
      case "42501", "3D000", "3F000", "22021", "22P05" -> Kind.REFUSED;
      case "42P01" -> Kind.NO_TABLE;
      default -> state.startsWith("28") ? Kind.REFUSED : byClass(e, state);
    };
  }

  static Kind mySql(SQLException e) {
    return switch (e.getErrorCode()) {
      case 1213, 1205, 1969, 3024, RECORD_HAS_CHANGED -> Kind.AGAIN;
      case 1040, 1203 -> Kind.TOO_MANY;
      case 1021, 1041, 1114 -> Kind.FULL;
      case 1290, 1792, 1836 -> Kind.READ_ONLY;
      case 1044, 1045, 1049, 1142, 1143, 1227, 1665, 1698 -> Kind.REFUSED;
      case 1146 -> Kind.NO_TABLE;
      case 1053, 1927 -> Kind.BROKEN;
      default -> byClass(e, Objects.requireNonNullElse(e.getSQLState(), ""));
    };
  }

  /**
   * Says whether the database has rolled a whole transaction back in favour of another one: a deadlock, a serialization
   * failure, a record that has changed since it was read. To do it again from its beginning is the right thing.
   */
  static boolean isConflict(SQLException e) {
    return e.getErrorCode() == RECORD_HAS_CHANGED
        || Objects.requireNonNullElse(e.getSQLState(), "").startsWith("40");
  }

  private static Kind byClass(SQLException e, String state) {
    return state.startsWith("08")
            || e instanceof SQLTransientConnectionException
            || e instanceof SQLNonTransientConnectionException
            || e instanceof SQLRecoverableException
        ? Kind.BROKEN
        : Kind.OTHER;
  }

  /** What a request fails with whose statement failed. */
  static StoreException ofStatement(String store, Kind kind, SQLException e) {
    // after a broken connection nobody knows how far the statement came; otherwise it was rolled back
    boolean notApplied = kind != Kind.BROKEN && kind != Kind.OTHER;
    return of(store, kind, ConnectionTrouble.ofAnswer(e), notApplied, e);
  }

  /** What a request fails with for which there was no connection: it was not sent. */
  static StoreException ofConnecting(String store, Kind kind, SQLException e) {
    ConnectionTrouble trouble = ConnectionTrouble.of(e);
    return of(store, trouble.isRefusal() ? Kind.REFUSED : kind, trouble, true, e);
  }

  private static StoreException of(
      String store, Kind kind, ConnectionTrouble trouble, boolean notApplied, SQLException e) {
    String found = store + ": " + masked(trouble.words());
    return switch (kind) {
      case AGAIN, ANEW ->
        failed(
            found + "; the statement was rolled back in favour of others, again and again",
            Reason.UNREACHABLE,
            notApplied,
            e);
      case TOO_MANY ->
        failed(
            found + "; close other clients, or raise the server's limit of connections",
            Reason.UNREACHABLE,
            notApplied,
            e);
      case READ_ONLY ->
        failed(
            found + "; this server is a replica, or was made read-only: name the primary",
            Reason.UNREACHABLE,
            notApplied,
            e);
      case REFUSED -> failed(store + ": " + masked(trouble.line()), Reason.REFUSED, notApplied, e);
      case FULL ->
        failed(found + "; the server has no room left: make some", Reason.FULL, notApplied, e);
      case NO_TABLE ->
        failed(
            found + "; the tables are gone: make them again with what \"holdfast ddl\" prints",
            Reason.DAMAGED,
            notApplied,
            e);
      case BROKEN, OTHER ->
        failed(store + ": " + masked(trouble.line()), Reason.UNREACHABLE, notApplied, e);
    };
  }

  /** What somebody's exception says, without a password that it may quote. */
  static String masked(Throwable e) {
    return masked(Objects.requireNonNullElse(e.getMessage(), "no message"));
  }

  static String masked(String words) {
    return PASSWORD.matcher(words).replaceAll("$1***");
  }

  /** What the first contact fails with that got one connection, and no other. */
  static StoreException noSecond(String store, Throwable e) {
    return failed(
        store
            + ": there was no second connection; a pool, and the server's limit, must allow at least two: one of them is for"
            + " renewals. "
            + masked(e),
        Reason.UNREACHABLE,
        true,
        e);
  }

  /** What a request fails with that comes after {@code close()}. */
  static StoreException closed(String store) {
    return failed(store + " is closed", Reason.UNREACHABLE, true, null);
  }

  /** What a request fails with for which no connection became free in time. */
  static StoreException crowded(String store) {
    return failed(
        store
            + ": no connection became free in the time of a request; the server does not answer, or"
            + " holdfast.connections is too small",
        Reason.UNREACHABLE,
        true,
        null);
  }

  private static StoreException failed(
      String what, Reason reason, boolean notApplied, @Nullable Throwable cause) {
    return new StoreException(what, reason, notApplied, cause);
  }
}
