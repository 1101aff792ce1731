// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerProcess;
import java.util.EnumMap;
import java.util.Map;

/** The databases that every test of the SQL stores runs on. */
public enum SqlKind {
  /** PostgreSQL. */
  POSTGRESQL,
  /** MariaDB. */
  MARIADB,
  /** MySQL. */
  MYSQL;

  private static final Map<SqlKind, SqlServer> SHARED = new EnumMap<>(SqlKind.class);

  /**
   * Starts a server for one test, which may do with it what it likes, and closes it. Without the server's programs the
   * test is not run, as {@link io.holdfast.testkit.process.ServerProcess#of} says.
   *
   * @return a server that answers
   */
  public SqlServer start() {
    return switch (this) {
      case POSTGRESQL -> PostgresServer.with();
      case MARIADB -> MariaServer.with();
      case MYSQL -> MySqlServer.with();
    };
  }

  /**
   * Says whether the server's programs are there.
   *
   * @return false if it cannot be started
   */
  public boolean isThere() {
    return switch (this) {
      case POSTGRESQL -> ServerProcess.isThere("postgres") && ServerProcess.isThere("initdb");
      case MARIADB ->
        ServerProcess.isThere("mariadbd") && ServerProcess.isThere("mariadb-install-db");
      case MYSQL -> ServerProcess.isThere("mysqld");
    };
  }

  /**
   * As {@link #start}, and the test may move the server's clock.
   *
   * @return a server that answers
   */
  public SqlServer startWithAClock() {
    return switch (this) {
      case POSTGRESQL -> PostgresServer.withAClock();
      case MARIADB -> MariaServer.withAClock();
      case MYSQL -> MySqlServer.withAClock();
    };
  }

  /**
   * As {@link #start}, with a small disk of its own for the tables of the database and nothing else: the test can fill it.
   * The disk goes with the server's process, which cannot be started again.
   *
   * @param size as {@code mount -o size=} takes it
   * @return a server that answers
   */
  public SqlServer startOnASmallDisk(String size) {
    return switch (this) {
      case POSTGRESQL -> PostgresServer.onASmallDisk(size);
      case MARIADB -> MariaServer.onASmallDisk(size);
      case MYSQL -> MySqlServer.onASmallDisk(size);
    };
  }

  /**
   * Returns the server of all tests of this JVM that leave it running. It ends with the JVM; who uses it finds tables of
   * others there, or calls {@link SqlServer#dropTables} first.
   *
   * @return a server that answered once
   */
  public SqlServer shared() {
    synchronized (SHARED) {
      return SHARED.computeIfAbsent(this, SqlKind::start);
    }
  }
}
