// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.Executables;
import io.holdfast.testkit.process.ServerPrograms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A machine without servers, and one whose servers are of no use: the contract is skipped and nothing fails, unless all
 * stores are required; and the matrix has a row for each store, with the reason.
 */
class MissingServersTest {
  /** What each program says of its version. */
  private static final Map<String, String> VERSIONS = Map.of(
      "postgres", "postgres (PostgreSQL) 16.1",
      "initdb", "initdb (PostgreSQL) 16.1",
      "mariadbd", "mariadbd  Ver 11.8.2-MariaDB for Linux on x86_64",
      "mariadb-install-db", "",
      "mysqld", "mysqld  Ver 8.4.0 for Linux on x86_64 (MySQL Community Server - GPL)",
      "redis-server", "Redis server v=8.0.2 sha=00000000:0",
      "etcd", "etcd Version: 3.6.1",
      "consul", "Consul v1.22.7");

  private static final List<String> SERVERS =
      List.of("postgres", "mariadbd", "mysqld", "redis-server", "etcd", "consul");

  private static final int SUITES = 24;

  @TempDir
  private Path folder;

  private void install(String program, String script) {
    try {
      Executables.write(folder.resolve(program), "#!/bin/sh\n" + script + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void installSaying(String program, String said) {
    install(program, "echo '" + said + "'");
  }

  /** A program that answers {@code --version}; whatever else it is asked, it does this. */
  private void installAnswering(String program, String version, String script) {
    install(program, "[ \"$1\" != --version ] || { echo '" + version + "'; exit; }; " + script);
  }

  /** Runs the contracts in a JVM that finds these programs and no others, and returns what is printed. */
  private String run(String... options) throws IOException {
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(List.of(options));
    command.addAll(List.of(
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        Contracts.class.getName()));
    Path said = folder.resolve("said");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("HOLDFAST_"));
    environment.put("PATH", folder.toString());
    environment.put("HOLDFAST_SERVERS", folder.resolve("none").toString());
    Process running = builder.start();
    try {
      assertThat(Await.value(running.onExit()).exitValue()).isZero();
    } finally {
      running.destroyForcibly();
    }
    return Files.readString(said);
  }

  private static void assertSkipped(String said) {
    assertThat(said)
        .contains("begun 0\n", "aborted 1\n", "skipped " + SERVERS.size() * SUITES + "\n")
        .contains("failed 0\n");
  }

  private static String row(String said, String server) {
    List<String> rows = said.lines()
        .filter(line -> line.startsWith("[contract] on-" + server + " "))
        .toList();
    assertThat(rows).as(said).hasSize(1);
    return rows.get(0);
  }

  private static void assertReason(String said, String server, String reason) {
    String row = row(said, server);
    if (server.equals("postgres") && ServerPrograms.isRoot()) {
      assertThat(row).contains("NOT RUN").contains("refuses to be run by root");
    } else {
      assertThat(row).contains("NOT RUN").contains(reason);
    }
  }

  @Test
  void noServers_areSaid() throws IOException {
    String said = run();
    assertSkipped(said);
    for (String server : SERVERS) {
      assertThat(row(said, server)).contains("NOT RUN: " + server + " was not found");
    }
  }

  /** A newer one in PATH would say that the oldest was tested. */
  @Test
  void theOldest_areLookedForInTheirFolderAlone() throws IOException {
    VERSIONS.forEach(this::installSaying);
    String said = run("-Dholdfast.servers=oldest");
    assertSkipped(said);
    for (String server : SERVERS) {
      assertThat(row(said, server + "-oldest"))
          .contains("NOT RUN: " + server + " was not found (run dev/servers --oldest)");
    }
  }

  @Test
  void requiredServers_fail() throws IOException {
    String said = run("-Dholdfast.stores=required");
    assertThat(said)
        .contains("begun 0\n", "failed " + (SERVERS.size() * SUITES + 1) + "\n")
        .contains("consul was not found");
  }

  @Test
  void programsThatFail_areSaid() throws IOException {
    for (String program : VERSIONS.keySet()) {
      install(program, "echo no licence >&2; exit 7");
    }
    String said = run();
    assertSkipped(said);
    for (String server : SERVERS) {
      assertReason(said, server, "fails with 7 when asked for its version: no licence");
    }
  }

  @Test
  void otherProducts_areSaid() throws IOException {
    for (String program : VERSIONS.keySet()) {
      install(program, "echo Another 2.0");
    }
    install("mysqld", "echo 'mysqld  Ver 10.11.6-MariaDB for Linux'");
    String said = run();
    assertSkipped(said);
    for (String server : SERVERS) {
      assertReason(
          said,
          server,
          server.equals("mysqld") ? "Ver 10.11.6-MariaDB" : "something else: Another");
    }
  }

  @Test
  void oldVersions_areSaid() throws IOException {
    VERSIONS.forEach((program, said) -> installSaying(program, said.replaceFirst("\\d+\\.", "0.")));
    String said = run();
    assertSkipped(said);
    for (String server : SERVERS) {
      assertReason(said, server, "is the oldest that is supported");
    }
  }

  /** These answer {@code --version}, start, and answer no request. */
  @Test
  void serversThatDoNotAnswer_areSaid() throws IOException {
    List<String> servers = List.of("redis-server", "etcd", "consul");
    for (String server : servers) {
      installAnswering(server, String.valueOf(VERSIONS.get(server)), "kill -STOP $$");
    }
    String said = run("-Dholdfast.patience=0.01");
    assertSkipped(said);
    for (String server : servers) {
      assertReason(said, server, "does not answer");
    }
  }

  /** These answer {@code --version}, and refuse to work. */
  @Test
  void programsThatRefuseTheUser_areSaid() throws IOException {
    VERSIONS.forEach(
        (program, version) -> installAnswering(program, version, "echo not for this user; exit 1"));
    String said = run();
    assertSkipped(said);
    for (String server : SERVERS) {
      assertReason(said, server, "not for this user");
    }
  }
}
