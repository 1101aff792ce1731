// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/**
 * A pgbouncer of our own in front of a PostgreSQL, which lends a connection for one transaction: the next one of the same
 * client may run on another connection, and what belongs to a session (LISTEN, SET, advisory locks) goes astray.
 */
final class PgBouncer implements AutoCloseable {
  private final ServerProcess process = ServerProcess.of("pgbouncer");
  private final int port = ServerProcess.freePort();
  private final SqlServer server;

  /**
   * Starts it, and waits until it answers.
   *
   * @param server the PostgreSQL
   * @param connections how many it lends at the same time
   */
  PgBouncer(PostgresServer server, int connections) {
    this.server = server;
    process.closeWith("TERM");
    Path folder = process.folder();
    write("users", "\"" + server.user() + "\" \"" + server.password() + "\"\n");
    write(
        "pgbouncer.ini", """
        [databases]
        * = host=127.0.0.1 port=%d
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = scram-sha-256
        auth_file = %s
        pool_mode = transaction
        default_pool_size = %d
        ignore_startup_parameters = extra_float_digits
        """.formatted(server.port(), port, folder.resolve("users"), connections));
    start();
  }

  private void write(String name, String content) {
    try {
      Files.writeString(process.folder().resolve(name), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts the process, and waits until it answers. */
  void start() {
    process.start(List.of(process.folder().resolve("pgbouncer.ini").toString()));
    Await.until("pgbouncer answers", this::answers);
  }

  private boolean answers() {
    if (!process.isRunning()) {
      throw new AssertionError("pgbouncer has ended: " + process.log());
    }
    try (Connection connection = dataSource().getConnection()) {
      return connection.isValid(1);
    } catch (SQLException e) {
      // not there yet
      return false;
    }
  }

  /** Returns the JDBC URL of the same database, through pgbouncer. */
  String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + SqlServer.DATABASE;
  }

  /** Returns new connections of the plain user, whose statements are prepared for one transaction only. */
  DataSource dataSource() {
    return new UrlDataSource(jdbcUrl() + "?prepareThreshold=0", server.user(), server.password());
  }

  void kill() {
    process.kill();
  }

  void pause() {
    process.pause();
  }

  void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }
}
