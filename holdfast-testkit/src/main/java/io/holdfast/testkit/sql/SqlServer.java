// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerProcess;
import io.holdfast.testkit.process.ServerPrograms;
import io.holdfast.testkit.process.SkewedClock;
import io.holdfast.testkit.process.SmallDisk;
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
public abstract class SqlServer implements AutoCloseable {
  /** The name of the database. */
  public static final String DATABASE = "holdfast";

  private static final int PATIENCE_MILLIS = 60_000;

  private static final String USER = "holdfast";
  private static final String PASSWORD = "secret";
  private static final String SUPERUSER_PASSWORD = "topsecret";

  private final String program;
  private final ServerProcess process;
  private final int port = ServerProcess.freePort();
  private final List<String> options;
  private final Optional<SkewedClock> clock;
  private Optional<SmallDisk> disk = Optional.empty();

  /** Does not start it: whoever extends this does, when all its fields are there. */
  SqlServer(String program, boolean movesItsClock, List<String> options) {
    this.program = program;
    this.process = ServerProcess.of(program);
    this.options = List.copyOf(options);
    this.clock = movesItsClock ? Optional.of(SkewedClock.in(folder())) : Optional.empty();
  }

  /** Returns the arguments of the program: those without which it is not what this class describes, and the options. */
  abstract List<String> arguments(List<String> options);

  /**
   * Returns the JDBC URL of a database, without user and password.
   *
   * @param database the name of the database
   * @return the URL
   */
  public abstract String jdbcUrl(String database);

  /** Returns the JDBC URL of the database as the harness itself uses it. */
  String ownUrl() {
    return jdbcUrl();
  }

  /**
   * Returns the user who may do everything everywhere, with {@link #superuserPassword}.
   *
   * @return the name
   */
  public abstract String superuser();

  /**
   * Returns the server's name and version, as the matrix shows it.
   *
   * @return for example {@code MariaDB 10.11.6}
   */
  public abstract String version();

  /**
   * Returns what {@code dev/servers} has to say of the server, for the matrix.
   *
   * @return as {@link ServerPrograms#remark} says
   */
  public final String remark() {
    return ServerPrograms.remark(program);
  }

  /**
   * Returns SQL that yields the names of all tables of the database that are not the server's own, ready for use.
   *
   * @return a query
   */
  public abstract String tables();

  /**
   * Returns the JDBC URL of the database, without user and password.
   *
   * @return the URL
   */
  public final String jdbcUrl() {
    return jdbcUrl(DATABASE);
  }

  /**
   * Returns the address of a store in the database, with the plain user and the password.
   *
   * @param parameters more of them, for example {@code holdfast.prefix=mine_}
   * @return the address
   */
  public final String storeUri(String... parameters) {
    String url = jdbcUrl();
    StringBuilder uri = new StringBuilder(url)
        .append(url.indexOf('?') < 0 ? '?' : '&')
        .append("user=")
        .append(USER)
        .append("&password=")
        .append(PASSWORD);
    for (String each : parameters) {
      uri.append('&').append(each);
    }
    return uri.toString();
  }

  /**
   * Returns the plain user, who may do anything in the database.
   *
   * @return the name
   */
  public final String user() {
    return USER;
  }

  /**
   * Returns the password of the plain user.
   *
   * @return the password
   */
  public final String password() {
    return PASSWORD;
  }

  static String userPassword() {
    return PASSWORD;
  }

  /**
   * Returns the password of the superuser.
   *
   * @return the password
   */
  public static String superuserPassword() {
    return SUPERUSER_PASSWORD;
  }

  /**
   * Returns the port that the server listens on, also after a restart.
   *
   * @return the port
   */
  public final int port() {
    return port;
  }

  /**
   * Returns the server's folder, which is removed by {@link #close()}.
   *
   * @return the folder
   */
  public final Path folder() {
    return process.folder();
  }

  /**
   * Returns the server's process.
   *
   * @return the process
   */
  public final ServerProcess process() {
    return process;
  }

  /**
   * Returns new connections of the plain user.
   *
   * @return a new connection each time
   */
  public final DataSource dataSource() {
    return new UrlDataSource(ownUrl(), USER, PASSWORD);
  }

  /**
   * Returns new connections of the superuser, to the same database.
   *
   * @return a new connection each time
   */
  public final DataSource superuserDataSource() {
    return new UrlDataSource(ownUrl(), superuser(), SUPERUSER_PASSWORD);
  }

  /**
   * Returns a new connection of the plain user, on which no test waits for ever.
   *
   * @return the connection
   * @throws SQLException if the server does not answer, or refuses it
   */
  public final Connection connect() throws SQLException {
    Connection connection = dataSource().getConnection();
    connection.setNetworkTimeout(Runnable::run, PATIENCE_MILLIS);
    return connection;
  }

  /** Starts the process, and waits until it answers. */
  public final void start() {
    if (disk.isPresent()) {
      process.start(arguments(options), disk.get());
    } else {
      process.start(arguments(options), clock.map(SkewedClock::environment).orElse(Map.of()));
    }
    List<SQLException> failures = new ArrayList<>();
    try {
      process.awaitAnswer(() -> answers(failures));
    } catch (AssertionError e) {
      failures.forEach(e::addSuppressed);
      throw e;
    }
  }

  private boolean answers(List<SQLException> failures) {
    try (Connection connection = connect()) {
      return connection.isValid(1);
    } catch (SQLException e) {
      // not there yet; only the last one tells
      failures.clear();
      failures.add(e);
      return false;
    }
  }

  /**
   * Executes statements as the superuser, each committed for itself.
   *
   * @param statements the statements
   */
  public final void execute(String... statements) {
    try (Connection connection = superuserDataSource().getConnection();
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Asks the server, as the superuser, for the first column of all rows, as text.
   *
   * @param sql the query
   * @return the column, with {@code null} as a word
   */
  public final List<String> query(String sql) {
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
  public final void emptyTables() {
    execute(query(tables()).stream().map(each -> "DELETE FROM " + each).toArray(String[]::new));
  }

  /** Removes every table, as if nobody had used the database yet. Waits for whoever has a transaction open there. */
  public final void dropTables() {
    execute(query(tables()).stream()
        .map(each -> "DROP TABLE " + each + " CASCADE")
        .toArray(String[]::new));
  }

  /**
   * Sets the server's clock, if it can be moved.
   *
   * @param by how far it is ahead of ours; negative if it is behind
   */
  public final void clockAhead(Duration by) {
    clock.orElseThrow().set(by);
  }

  /** Has the next start give it a small disk for the tables of the database, in place of an empty folder. */
  final void tablesOn(SmallDisk small) {
    disk = Optional.of(small);
  }

  /** Fills the small disk, if the server has one. What is there can be changed in place, and nothing can grow. */
  public final void fillDisk() {
    disk.orElseThrow().fill(process);
  }

  /** Makes room on the small disk again. */
  public final void makeRoomOnDisk() {
    disk.orElseThrow().makeRoom(process);
  }

  /** As kill -9: nothing is flushed, nobody is told. */
  public final void kill() {
    process.kill();
  }

  /** Kills the server, and starts it again. */
  public final void restart() {
    kill();
    start();
  }

  /** Stops the server as {@code SIGSTOP} does: its connections stay, and nothing is answered. */
  public final void pause() {
    process.pause();
  }

  /** Lets a paused server go on. */
  public final void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
