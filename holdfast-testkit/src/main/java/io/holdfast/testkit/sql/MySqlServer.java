// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerPrograms;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A MySQL of our own. */
public final class MySqlServer extends MySqlFamily {
  private static final String PROGRAM = "mysqld";

  private MySqlServer(boolean movesItsClock, List<String> options) {
    super(PROGRAM, movesItsClock, options);
  }

  /**
   * Starts a server with more options.
   *
   * @param options for example {@code --transaction-isolation=SERIALIZABLE}
   * @return a server that answers
   */
  public static MySqlServer with(String... options) {
    MySqlServer server = new MySqlServer(false, List.of(options));
    server.startNew(PROGRAM);
    return server;
  }

  /**
   * Starts a server whose clock can be moved.
   *
   * @param options for example {@code --transaction-isolation=SERIALIZABLE}
   * @return a server that answers
   */
  public static MySqlServer withAClock(String... options) {
    MySqlServer server = new MySqlServer(true, List.of(options));
    server.startNew(PROGRAM);
    return server;
  }

  /**
   * Starts a server with a small disk for the tables of the database.
   *
   * @param size as {@code mount -o size=} takes it
   * @return a server that answers
   */
  public static MySqlServer onASmallDisk(String size) {
    MySqlServer server = new MySqlServer(false, List.of());
    server.startNew(PROGRAM, size);
    return server;
  }

  @Override
  void initialise(List<String> arguments, Path statements) {
    List<String> all = new ArrayList<>(arguments);
    all.addAll(List.of("--initialize-insecure", "--init-file=" + statements));
    ServerPrograms.run(PROGRAM, all, "");
  }

  @Override
  public String jdbcUrl(String database) {
    String url = "jdbc:mysql://127.0.0.1:" + port() + "/" + database;
    // MariaDB's driver insists on TLS otherwise
    return hasDriver(url) ? url : url + "?sslMode=disable";
  }

  @Override
  String ownUrl() {
    String url = jdbcUrl();
    return hasDriver(url) ? url : url + "&permitMysqlScheme";
  }

  /** MySQL's own driver, which is GPL, may be missing; then MariaDB's serves, if it is told to. */
  private static boolean hasDriver(String url) {
    try {
      return DriverManager.getDriver(url) != null;
    } catch (SQLException e) {
      // that is how it says that there is none
      return false;
    }
  }

  @Override
  public String version() {
    return "MySQL " + query("SELECT VERSION()").get(0).replaceFirst("-.*", "");
  }
}
