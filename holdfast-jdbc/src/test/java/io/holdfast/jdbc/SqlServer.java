// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.SkewedClock;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * A database server of our own: a child process with a folder and a port that stay the same over restarts. It listens on
 * loopback, and what it has committed is on disk. There is one database, {@code holdfast}, which belongs to a user who
 * may do anything in it and nothing else.
 */
abstract class SqlServer implements AutoCloseable {
  static final String DATABASE = "holdfast";

  private static final int PATIENCE_MILLIS = 60_000;

  private static final String USER = "holdfast";
  private static final String PASSWORD = "secret";
  private static final String SUPERUSER_PASSWORD = "topsecret";

  private final ServerProcess process;
  private final int port = ServerProcess.freePort();
  private final List<String> options;
  private final Optional<SkewedClock> clock;

  /** Does not start it: whoever extends this does, when all its fields are there. */
  SqlServer(String program, boolean movesItsClock, List<String> options) {
    this.process = ServerProcess.of(program);
    this.options = List.copyOf(options);
    this.clock = movesItsClock ? Optional.of(SkewedClock.in(folder())) : Optional.empty();
  }

  /** Returns the arguments of the program: those without which it is not what this class describes, and the options. */
  abstract List<String> arguments(List<String> options);

  /** Returns the JDBC URL of a database, without user and password. */
  abstract String jdbcUrl(String database);

  /** Returns the user who may do everything everywhere, with {@link #superuserPassword}. */
  abstract String superuser();

  /** Returns the server's name and version, as the matrix shows it. */
  abstract String version();

  /** Returns SQL that yields the names of all tables of the database that are not the server's own, ready for use. */
  abstract String tables();

  final String jdbcUrl() {
    return jdbcUrl(DATABASE);
  }

  final String user() {
    return USER;
  }

  final String password() {
    return PASSWORD;
  }

  static String userPassword() {
    return PASSWORD;
  }

  static String superuserPassword() {
    return SUPERUSER_PASSWORD;
  }

  final int port() {
    return port;
  }

  final Path folder() {
    return process.folder();
  }

  final ServerProcess process() {
    return process;
  }

  /** Returns new connections of the plain user. */
  final DataSource dataSource() {
    return new UrlDataSource(jdbcUrl(), USER, PASSWORD);
  }

  /** Returns new connections of the superuser, to the same database. */
  final DataSource superuserDataSource() {
    return new UrlDataSource(jdbcUrl(), superuser(), SUPERUSER_PASSWORD);
  }

  /** Returns a new connection of the plain user, on which no test waits for ever. */
  final Connection connect() throws SQLException {
    Connection connection = dataSource().getConnection();
    connection.setNetworkTimeout(Runnable::run, PATIENCE_MILLIS);
    return connection;
  }

  /** Starts the process, and waits until it answers. */
  final void start() {
    process.start(arguments(options), clock.map(SkewedClock::environment).orElse(Map.of()));
    List<SQLException> failures = new ArrayList<>();
    try {
      Await.until("the server in " + folder() + " answers", () -> answers(failures));
    } catch (AssertionError e) {
      failures.forEach(e::addSuppressed);
      throw e;
    }
  }

  private boolean answers(List<SQLException> failures) {
    if (!process.isRunning()) {
      throw new AssertionError("the server has ended: " + process.log());
    }
    try (Connection connection = connect()) {
      return connection.isValid(1);
    } catch (SQLException e) {
      // not there yet; only the last one tells
      failures.clear();
      failures.add(e);
      return false;
    }
  }

  /** Executes statements as the superuser, each committed for itself. */
  final void execute(String... statements) {
    try (Connection connection = superuserDataSource().getConnection();
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Asks the server, as the superuser, for the first column of all rows, as text. */
  final List<String> query(String sql) {
    try (Connection connection = superuserDataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(String.valueOf(rows.getString(1)));
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Empties every table; the tables stay. Waits for whoever has a transaction open there. */
  final void emptyTables() {
    execute(query(tables()).stream().map(each -> "DELETE FROM " + each).toArray(String[]::new));
  }

  /** Removes every table, as if nobody had used the database yet. Waits for whoever has a transaction open there. */
  final void dropTables() {
    execute(query(tables()).stream()
        .map(each -> "DROP TABLE " + each + " CASCADE")
        .toArray(String[]::new));
  }

  /** Sets the server's clock: how far it is ahead of ours. */
  final void clockAhead(Duration by) {
    clock.orElseThrow().set(by);
  }

  /** As kill -9: nothing is flushed, nobody is told. */
  final void kill() {
    process.kill();
  }

  final void restart() {
    kill();
    start();
  }

  final void pause() {
    process.pause();
  }

  final void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
