// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import java.sql.SQLException;

/**
 * Opens the file and asks for the right to write. SQLite opens a file that this user may only read without a word, and
 * refuses the first change: better now than at the first lock. Answers when old rows were last deleted.
 */
final class SqliteProbe extends SqliteRequest<Long> {
  private final SqliteContext context;

  SqliteProbe(SqliteContext context) {
    super(context.now());
    this.context = context;
  }

  @Override
  boolean needsTransaction() {
    return true;
  }

  @Override
  boolean isOverdue(Moment now) {
    return asked.elapsedNanos(now.nanos(), now.wallMillis())
        > context.runtime().requestTimeout().toNanos();
  }

  @Override
  Long run(SqliteSession session) throws SQLException {
    return session.connection.number("SELECT cleaned_us FROM holdfast_meta");
  }
}
