// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.zookeeper.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One dependency beside the BOM is enough to use a store; and what is missing is named with its artifact. */
class OneDependencyTest {
  private static final Pattern ROW = Pattern.compile("\\|[^|]*\\|([^|]*)\\| `(holdfast-[a-z]+)`.*");

  private static final Pattern ADDRESS = Pattern.compile("`([a-z:-]+:)(//)?[^`]*`");

  @TempDir
  private static Path folder = Path.of("set before all tests");

  private static UserProject core;
  private static UserProject sqlite;
  private static UserProject jdbc;
  private static UserProject zooKeeper;

  @BeforeAll
  static void compile() throws Exception {
    core = new UserProject(folder.resolve("core"), "holdfast-core");
    sqlite = new UserProject(folder.resolve("sqlite"), "holdfast-sqlite");
    jdbc = new UserProject(folder.resolve("jdbc"), "holdfast-jdbc");
    zooKeeper = new UserProject(folder.resolve("zookeeper"), "holdfast-zookeeper");
    UserProject.compile(folder, core, sqlite, jdbc, zooKeeper);
  }

  private static String file() {
    return "sqlite:" + folder.resolve("locks.db");
  }

  @Test
  void memory_isInCore() throws Exception {
    assertThat(core.run("memory:")).containsExactly("acquired");
    assertThat(core.jars()).hasSize(1);
  }

  @Test
  void sqlite_bringsItsDriverAndNothingElse() throws Exception {
    assertThat(sqlite.run(file())).containsExactly("acquired");
    assertThat(sqlite.jars())
        .extracting(jar -> jar.getFileName().toString().replaceFirst("-\\d.*", ""))
        .containsExactlyInAnyOrder(
            "holdfast-core", "holdfast-jdbc", "holdfast-sqlite", "sqlite-jdbc");
  }

  @Test
  void sqlite_isAModuleToo() throws Exception {
    assertThat(sqlite.runWithModules("io.holdfast.sqlite", file())).containsExactly("acquired");
  }

  @Test
  void zooKeeper() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.alone()) {
      assertThat(zooKeeper.run("zookeeper://" + server.address())).containsExactly("acquired");
    }
  }

  @Test
  void withoutADriver_itsArtifactIsNamed() throws Exception {
    assertThat(sqlite.runWithout("sqlite-jdbc", file()))
        .singleElement()
        .asString()
        .contains("io.holdfast:holdfast-sqlite", "org.xerial:sqlite-jdbc");
    assertThat(jdbc.run(file()))
        .singleElement()
        .asString()
        .contains("io.holdfast:holdfast-sqlite", "org.xerial:sqlite-jdbc");
    assertThat(jdbc.run("jdbc:postgresql://127.0.0.1/x"))
        .singleElement()
        .asString()
        .contains("org.postgresql:postgresql");
    assertThat(jdbc.run("jdbc:mariadb://127.0.0.1/x"))
        .singleElement()
        .asString()
        .contains("org.mariadb.jdbc:mariadb-java-client");
    assertThat(jdbc.run("jdbc:mysql://127.0.0.1/x"))
        .singleElement()
        .asString()
        .contains("com.mysql:mysql-connector-j", "org.mariadb.jdbc:mariadb-java-client");
  }

  /** As the table of the README has it. */
  @Test
  void withoutAStore_itsArtifactIsNamed() throws Exception {
    List<String> addresses = new ArrayList<>();
    List<String> artifacts = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("..", "README.md"))) {
      Matcher row = ROW.matcher(line);
      if (row.matches() && !row.group(2).equals("holdfast-core")) {
        Matcher address = ADDRESS.matcher(row.group(1));
        while (address.find()) {
          addresses.add(address.group(1) + (address.group(2) == null ? "locks" : "//127.0.0.1"));
          artifacts.add(row.group(2));
        }
      }
    }
    assertThat(addresses).hasSizeGreaterThan(12);
    List<String> said = core.run(addresses.toArray(String[]::new));
    assertThat(said).hasSameSizeAs(addresses);
    for (int i = 0; i < said.size(); i++) {
      assertThat(said.get(i))
          .as(addresses.get(i))
          .contains("add io.holdfast:" + artifacts.get(i) + " to the class path");
    }
  }
}
