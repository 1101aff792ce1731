// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.SQLiteOpenMode;

/**
 * One connection, used by one thread at a time; whoever has it sees to that.
 *
 * <p>It never waits for another process's transaction: a statement that finds the file locked fails at once with {@code
 * SQLITE_BUSY}, changes nothing, and is tried again by whoever sent it. That is what keeps {@code giveUpAt} true: the
 * store's time is read just before the statement, and no wait for the lock can come between the two.
 */
final class SqliteConnection implements AutoCloseable {
  private final Connection connection;
  private final PreparedStatement begin;
  private final PreparedStatement commit;
  private final PreparedStatement rollback;

  private SqliteConnection(Connection connection) throws SQLException {
    this.connection = connection;
    begin = connection.prepareStatement("BEGIN IMMEDIATE");
    commit = connection.prepareStatement("COMMIT");
    rollback = connection.prepareStatement("ROLLBACK");
  }

  /** Opens a database that exists; never makes one. */
  static SqliteConnection open(String uri) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.resetOpenMode(SQLiteOpenMode.CREATE);
    config.setOpenMode(SQLiteOpenMode.OPEN_URI);
    config.setBusyTimeout(0);
    load();
    Connection connection = config.createConnection("jdbc:sqlite:" + uri);
    try {
      return new SqliteConnection(connection);
    } catch (SQLException | RuntimeException e) {
      closeAfter(e, connection);
      throw e;
    }
  }

  /** The driver keeps that it failed to load, and is of no use any more then; its loader keeps only that it did not. */
  private static void load() throws SQLException {
    try {
      SQLiteJDBCLoader.initialize();
    } catch (Exception e) {
      throw new SQLException("the driver cannot load its native library", e);
    }
  }

  private static void closeAfter(Exception e, AutoCloseable what) {
    try {
      what.close();
    } catch (Exception again) {
      e.addSuppressed(again);
    }
  }

  /**
   * Sets what a connection to our own file needs. {@code synchronous=NORMAL} does not wait for the disk at each commit:
   * a process may crash at any point and loses nothing; a power failure may take back the last commits, but then all
   * holders on this machine are dead too, and the revisions go on above the lost ones because they follow the clock.
   */
  void configure() throws SQLException {
    execute("PRAGMA synchronous = NORMAL");
    execute("PRAGMA temp_store = MEMORY");
    execute("PRAGMA mmap_size = 0");
    execute("PRAGMA trusted_schema = OFF");
    execute("PRAGMA journal_size_limit = 4194304");
  }

  PreparedStatement prepare(String sql) throws SQLException {
    return connection.prepareStatement(sql);
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Runs a query that gives one number. */
  long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  /** Runs a query that gives one text. */
  String text(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      String text = rows.next() ? rows.getString(1) : null;
      return text == null ? "" : text;
    }
  }

  /** Begins a transaction that has the write lock; fails as busy, at once, if somebody else has it. */
  void begin() throws SQLException {
    begin.executeUpdate();
  }

  void commit() throws SQLException {
    commit.executeUpdate();
  }

  /** Ends a transaction that failed. After some errors SQLite has rolled back already. */
  void rollbackAfter(Throwable failure) {
    try {
      rollback.executeUpdate();
    } catch (SQLException e) {
      if (!failure.equals(e)) {
        failure.addSuppressed(e);
      }
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
