// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerPrograms;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A MariaDB of our own. */
public final class MariaServer extends MySqlFamily {
  private static final String PROGRAM = "mariadbd";

  private MariaServer(boolean movesItsClock, List<String> options) {
    super(PROGRAM, movesItsClock, options);
  }

  /**
   * Starts a server with more options.
   *
   * @param options for example {@code --sql-mode=SIMULTANEOUS_ASSIGNMENT}
   * @return a server that answers
   */
  public static MariaServer with(String... options) {
    MariaServer server = new MariaServer(false, List.of(options));
    server.startNew(PROGRAM);
    return server;
  }

  /**
   * Starts a server whose clock can be moved.
   *
   * @param options for example {@code --sql-mode=SIMULTANEOUS_ASSIGNMENT}
   * @return a server that answers
   */
  public static MariaServer withAClock(String... options) {
    MariaServer server = new MariaServer(true, List.of(options));
    server.startNew(PROGRAM);
    return server;
  }

  /**
   * Starts a server with a small disk for the tables of the database.
   *
   * @param size as {@code mount -o size=} takes it
   * @return a server that answers
   */
  public static MariaServer onASmallDisk(String size) {
    MariaServer server = new MariaServer(false, List.of());
    server.startNew(PROGRAM, size);
    return server;
  }

  @Override
  void initialise(List<String> arguments, Path statements) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(List.of(
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--extra-file=" + statements));
    ServerPrograms.run("mariadb-install-db", all, "");
  }

  @Override
  public String jdbcUrl(String database) {
    // the driver insists on TLS otherwise
    return "jdbc:mariadb://127.0.0.1:" + port() + "/" + database + "?sslMode=disable";
  }

  @Override
  public String version() {
    return "MariaDB " + query("SELECT VERSION()").get(0).replaceFirst("-.*", "");
  }
}
