// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Looks whether the tables are there, and makes them.
 *
 * <p>Times are microseconds since the epoch. A lock is taken while {@code until_us} is ahead of now; then {@code claim}
 * says by whom, or is null while a finished hold's {@code holdAtLeast} keeps the lock. A row outlives its hold: it is what
 * makes the next revision greater.
 */
final class JdbcSchema {
  /** The format, kept in the table of its own. A greater one is refused, never guessed. */
  static final int FORMAT = 1;

  private static final int NONE = 0;

  private final JdbcContext context;

  JdbcSchema(JdbcContext context) {
    this.context = context;
  }

  /** Makes the tables if they are missing and may be made. */
  void require(JdbcSession session) throws SQLException {
    int format = format(session);
    if (format == NONE) {
      if (!context.options().createsTables()) {
        throw new StoreException(
            context.store()
                + ": the tables are not there, and holdfast.tables=require; make them with what \"holdfast ddl\" prints",
            Reason.REFUSED,
            true,
            null);
      }
      if (context.options().onlyLooks()) {
        throw new StoreException(
            context.store() + ": there is no table "
                + session.tables().lock()
                + "; check the address, or let \"holdfast run\" create the tables",
            Reason.UNREACHABLE,
            true,
            null);
      }
      create(session);
      format = format(session);
    }
    if (format != FORMAT) {
      throw new StoreException(
          context.store() + ": the tables " + session.tables().lock()
              + " and others have format " + format + ", this version knows format " + FORMAT
              + "; use a newer version. They were left untouched",
          Reason.DAMAGED,
          true,
          null);
    }
  }

  private void create(JdbcSession session) throws SQLException {
    context.dialect().alone(session, () -> {
      // another process may have made them while this one waited for its turn
      if (format(session) == NONE) {
        for (String sql : context.dialect().ddl(session.tables())) {
          session.execute(sql);
        }
      }
    });
  }

  private int format(JdbcSession session) throws SQLException {
    if (!context.dialect().hasTable(session)) {
      return NONE;
    }
    try (Statement statement = session.connection().createStatement();
        ResultSet row = statement.executeQuery(
            "SELECT format FROM " + session.tables().meta() + " WHERE id = 1")) {
      return row.next() ? row.getInt(1) : NONE;
    }
  }
}
