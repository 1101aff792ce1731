// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** How long MySQL and MariaDB let a statement of this connection wait for a row: set, and put back as it was. */
final class LockWait {
  @FunctionalInterface
  private interface Undo {
    void run() throws SQLException;
  }

  /** What the databases themselves accept. */
  private static final long MOST_SECONDS = 1_073_741_824;

  private final Undo undo;

  private LockWait(Undo undo) {
    this.undo = undo;
  }

  /** Changes nothing. */
  static LockWait none() {
    return new LockWait(() -> {});
  }

  static LockWait seconds(Connection connection, long seconds) throws SQLException {
    long before;
    try (Statement statement = connection.createStatement()) {
      try (ResultSet rows = statement.executeQuery("SELECT @@SESSION.innodb_lock_wait_timeout")) {
        rows.next();
        before = rows.getLong(1);
      }
    }
    set(connection, seconds);
    return new LockWait(() -> set(connection, before));
  }

  private static void set(Connection connection, long seconds) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET SESSION innodb_lock_wait_timeout = " + seconds);
    }
  }

  /** Whole seconds, since these databases know no others: rounded up, and never zero. */
  static long wholeSeconds(Duration wait) {
    long seconds = wait.getSeconds() + (wait.getNano() > 0 ? 1 : 0);
    return Math.min(Math.max(seconds, 1), MOST_SECONDS);
  }

  void putBack() throws SQLException {
    undo.run();
  }
}
