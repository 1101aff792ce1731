// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sql;

import io.holdfast.testkit.process.ServerPrograms;
import io.holdfast.testkit.process.SmallDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A PostgreSQL of our own. */
public final class PostgresServer extends SqlServer {
  private static final List<String> INITDB = List.of(
      "--username=postgres",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      // small, so that it is quickly made and copied
      "--wal-segsize=1");

  private static final int SHARED_MEMORY_LINE = 6;

  private static final String SETUP = String.format(Locale.ROOT, """
      CREATE ROLE holdfast LOGIN PASSWORD '%s'
      CREATE DATABASE holdfast OWNER holdfast
      """, userPassword());

  private PostgresServer(boolean movesItsClock, List<String> options) {
    super("postgres", movesItsClock, options);
    // killed, it would leave shared memory behind
    process().closeWith("QUIT");
  }

  /**
   * Starts a server with more settings.
   *
   * @param settings for example {@code max_connections=20}
   * @return a server that answers
   */
  public static PostgresServer with(String... settings) {
    return started(new PostgresServer(false, List.of(settings)));
  }

  /**
   * Starts a server whose clock can be moved.
   *
   * @param settings for example {@code max_connections=20}
   * @return a server that answers
   */
  public static PostgresServer withAClock(String... settings) {
    return started(new PostgresServer(true, List.of(settings)));
  }

  /**
   * Starts a server with a small disk for the tables of the database, as a tablespace. Its log stays where it is: a server
   * that cannot write that ends.
   *
   * @param size as {@code mount -o size=} takes it
   * @return a server that answers
   */
  public static PostgresServer onASmallDisk(String size) {
    PostgresServer server = new PostgresServer(false, List.of());
    Path disk;
    try {
      disk = Files.createDirectory(server.folder().resolve("disk"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.tablesOn(SmallDisk.on(disk, size));
    started(server);
    server.execute(
        "CREATE TABLESPACE small LOCATION '" + disk + "'",
        "GRANT CREATE ON TABLESPACE small TO " + server.user(),
        "ALTER DATABASE " + DATABASE + " SET default_tablespace = small");
    return server;
  }

  /**
   * Starts a server that follows another one: it has all that the other has, and can be read.
   *
   * @param primary the server that it follows
   * @param settings for example {@code max_connections=20}
   * @return a server that answers
   */
  public static PostgresServer replicaOf(PostgresServer primary, String... settings) {
    List<String> all = new ArrayList<>(List.of(settings));
    all.add("wal_retrieve_retry_interval=100ms");
    PostgresServer replica = new PostgresServer(false, all);
    ServerPrograms.run(
        "pg_basebackup",
        List.of(
            "--dbname=" + primary.connectionString(),
            "--pgdata=" + replica.data(),
            "--checkpoint=fast",
            "--wal-method=stream",
            "--no-sync",
            "--write-recovery-conf"),
        "");
    replica.start();
    return replica;
  }

  /** Returns how PostgreSQL's own programs reach the server, as the superuser. */
  private String connectionString() {
    return "host=127.0.0.1 port=" + port() + " user=" + superuser() + " password="
        + superuserPassword();
  }

  private static PostgresServer started(PostgresServer server) {
    List<String> recipe = new ArrayList<>(INITDB);
    recipe.add(SETUP);
    DataFolder.copy("postgres", recipe, PostgresServer::initialise, server.data());
    server.start();
    return server;
  }

  private static void initialise(Path data, Path scratch) throws IOException {
    Path password = Files.writeString(scratch.resolve("password"), superuserPassword());
    List<String> arguments = new ArrayList<>(INITDB);
    arguments.add("--pgdata=" + data);
    arguments.add("--pwfile=" + password);
    ServerPrograms.run("initdb", arguments, "");
    // it takes a line for a statement
    ServerPrograms.run("postgres", List.of("--single", "-D", data.toString(), "postgres"), SETUP);
  }

  private Path data() {
    return folder().resolve("data");
  }

  @Override
  List<String> arguments(List<String> settings) {
    List<String> all = new ArrayList<>(List.of(
        "listen_addresses=127.0.0.1",
        "port=" + port(),
        "unix_socket_directories=",
        "fsync=on",
        "synchronous_commit=on",
        "full_page_writes=on",
        "ssl=off",
        "shared_buffers=16MB",
        "dynamic_shared_memory_type=mmap",
        // eight tests side by side have several clients each
        "max_connections=300",
        "jit=off"));
    all.addAll(settings);
    List<String> arguments = new ArrayList<>(List.of("-D", data().toString()));
    all.forEach(each -> arguments.addAll(List.of("-c", each)));
    return arguments;
  }

  @Override
  public String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database;
  }

  @Override
  public String superuser() {
    return "postgres";
  }

  @Override
  public String version() {
    return "PostgreSQL " + query("SHOW server_version").get(0).replaceFirst(" .*", "");
  }

  @Override
  public String tables() {
    return "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
        + " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
  }

  /** A server that was killed, and not started again, has left a little shared memory, which only a restart looks for. */
  private void removeSharedMemory() {
    try {
      Path lock = data().resolve("postmaster.pid");
      if (!process().isRunning() && Files.exists(lock)) {
        String id = Files.readAllLines(lock).get(SHARED_MEMORY_LINE).trim().replaceFirst(".* ", "");
        new ProcessBuilder("ipcrm", "--shmem-id", id).start().onExit().join();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the server's shared memory is still there", e);
    }
  }

  @Override
  public void close() {
    removeSharedMemory();
    super.close();
  }
}
