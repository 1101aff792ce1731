// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * A pgbouncer of our own in front of a PostgreSQL, which lends a connection for one transaction: the next one of the same
 * client may run on another connection, and what belongs to a session (LISTEN, SET, advisory locks) goes astray.
 */
public final class PgBouncer implements AutoCloseable {
  private final ServerProcess process = ServerProcess.of("pgbouncer");
  private final int port = ServerProcess.freePort();
  private final SqlServer server;

  /**
   * Starts it, and waits until it answers.
   *
   * @param server the PostgreSQL
   * @param connections how many it lends at the same time
   */
  public PgBouncer(PostgresServer server, int connections) {
    this(server, "transaction", connections);
  }

  private PgBouncer(PostgresServer server, String mode, int connections) {
    this.server = server;
    process.closeWith("TERM");
    Path folder = process.folder();
    write("users", "\"" + server.user() + "\" \"" + server.password() + "\"\n");
    write(
        "pgbouncer.ini",
        String.format(
            Locale.ROOT, """
        [databases]
        * = host=127.0.0.1 port=%d
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = scram-sha-256
        auth_file = %s
        pool_mode = %s
        default_pool_size = %d
        ignore_startup_parameters = extra_float_digits
        """, server.port(), port, folder.resolve("users"), mode, connections));
    start();
  }

  /**
   * Starts one that lends a connection for as long as its client stays: what belongs to a session is there to be used.
   *
   * @param server the PostgreSQL
   * @param connections how many it lends at the same time
   * @return a pgbouncer that answers
   */
  public static PgBouncer inSessionMode(PostgresServer server, int connections) {
    return new PgBouncer(server, "session", connections);
  }

  private void write(String name, String content) {
    try {
      Files.writeString(process.folder().resolve(name), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts the process, and waits until it answers. */
  public void start() {
    process.start(List.of(process.folder().resolve("pgbouncer.ini").toString()));
    process.awaitAnswer(this::answers);
  }

  private boolean answers() {
    try (Connection connection = dataSource().getConnection()) {
      return connection.isValid(1);
    } catch (SQLException e) {
      // not there yet
      return false;
    }
  }

  /**
   * Returns the JDBC URL of the same database, through pgbouncer.
   *
   * @return the URL, without user and password
   */
  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + SqlServer.DATABASE;
  }

  /**
   * Returns new connections of the plain user, whose statements are prepared for one transaction only.
   *
   * @return a new connection each time
   */
  public DataSource dataSource() {
    return new UrlDataSource(jdbcUrl() + "?prepareThreshold=0", server.user(), server.password());
  }

  /** As kill -9: its clients lose their connections. */
  public void kill() {
    process.kill();
  }

  /** Stops it as {@code SIGSTOP} does: connections stay, and nothing is answered. */
  public void pause() {
    process.pause();
  }

  /** Lets it go on. */
  public void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
