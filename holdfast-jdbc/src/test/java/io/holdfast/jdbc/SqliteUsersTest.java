// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.process.Needs;
import io.holdfast.testkit.process.ServerPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the page for operators makes is a file that several users can share, root among them. */
class SqliteUsersTest extends SqliteDeathCases {
  /** Numbers that no account needs to have. */
  private static final int GROUP = 29_010;

  private static final List<String> FIRST = user(29_001, "077");
  private static final List<String> SECOND = user(29_002, "022");

  /** Before a command of root's. The classes may be where that user may not read, so it may; not write. */
  private static List<String> user(int id, String umask) {
    return List.of(
        "setpriv",
        "--reuid=" + id,
        "--regid=" + id,
        "--groups=" + GROUP,
        "--inh-caps=+dac_read_search",
        "--ambient-caps=+dac_read_search",
        "sh",
        "-c",
        "umask " + umask + " && exec \"$@\"",
        "sh");
  }

  private static boolean runs(List<String> before, String... command) throws Exception {
    List<String> line = new ArrayList<>(before);
    line.addAll(List.of(command));
    try {
      return new ProcessBuilder(line).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      // no such command
      return false;
    }
  }

  @BeforeEach
  void makeAsThePageSays() throws Exception {
    Needs.that(
        ServerPrograms.isRoot() && runs(FIRST, "true"),
        "a SQLite file of several users is not tested: not root, or no setpriv of util-linux");
    List<String> lines = Files.readAllLines(OperationsPageTest.PAGE).stream()
        .filter(line -> line.startsWith("install "))
        .map(line ->
            line.replace("-g locks", "-g " + GROUP).replace("/var/lib/locks", folder.toString()))
        .toList();
    assertThat(lines).hasSize(2);
    for (String line : lines) {
      assertThat(runs(List.of(), line.split(" "))).as(line).isTrue();
    }
  }

  private String address() {
    return "sqlite:" + file();
  }

  private boolean isFreeForRoot() {
    try (Client client = new Client(file()).connect()) {
      Claim claim = client.claim("a");
      boolean granted = client.attempt(claim, Mode.TRY) instanceof Answer.Granted;
      client.end(claim);
      return granted;
    }
  }

  @Test
  void eachUser_seesTheOthersHoldsAndDeaths() throws Exception {
    Process first = holderBehind(FIRST, address(), "hold", "a");
    assertShared();
    holderBehind(SECOND, address(), "try", "a");
    assertThat(said()).isEqualTo("Busy");
    assertThat(isFreeForRoot()).isFalse();
    kill(first);
    Process second = holderBehind(SECOND, address(), "hold", "a");
    assertShared();
    assertThat(isFreeForRoot()).isFalse();
    kill(second);
    assertThat(isFreeForRoot()).isTrue();
    try (Client root = new Client(file()).connect()) {
      root.granted(root.claim("b"));
      assertShared();
      holderBehind(FIRST, address(), "try", "b");
      assertThat(said()).isEqualTo("Busy");
    }
  }

  /** Every file of the locks, with the group and the mode of the first one. */
  private void assertShared() throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> files = all.filter(path -> path.getFileName().toString().startsWith("locks.db"))
          .toList();
      assertThat(files).hasSizeGreaterThanOrEqualTo(4); // itself, -wal, -shm and a client's
      for (Path each : files) {
        assertThat(Files.getAttribute(each, "unix:gid")).as(each.toString()).isEqualTo(GROUP);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(each)))
            .as(each.toString())
            .isEqualTo("rw-rw----");
      }
    }
  }

  @Test
  void withoutTheRightOfTheGroup_aUserIsRefused() throws Exception {
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r-----"));
    assertThatThrownBy(() -> holderBehind(FIRST, address(), "hold", "a"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("must be writable by this user");
  }
}
