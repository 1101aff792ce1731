// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoreChoiceTest {
  @TempDir
  Path folder = Path.of("set by JUnit");

  @Test
  void of_option_winsOverVariable() {
    StoreChoice choice =
        StoreChoice.of("memory:", Map.of("HOLDFAST_STORE", "sqlite:x"), "/home/me");
    assertThat(choice.uri()).isEqualTo("memory:");
    assertThat(choice.isOurs()).isFalse();
    assertThat(choice.warnings()).isEmpty();
  }

  @Test
  void of_variable_winsOverDefault() {
    assertThat(StoreChoice.of(null, Map.of("HOLDFAST_STORE", "sqlite:x"), "/home/me")
            .uri())
        .isEqualTo("sqlite:x");
  }

  @Test
  void of_nothing_isAFileInTheStateFolder() {
    assertThat(StoreChoice.of(null, Map.of(), "/home/me"))
        .isEqualTo(new StoreChoice(
            "sqlite:/home/me/.local/state/holdfast/locks.db", java.util.List.of(), true));
    assertThat(StoreChoice.of(null, Map.of("XDG_STATE_HOME", "/var/state"), "/home/me")
            .uri())
        .isEqualTo("sqlite:/var/state/holdfast/locks.db");
  }

  /** A shell looks at HOME; Java asks passwd alone, and says "?" where the user is not in it. */
  @Test
  void of_nothing_isInHomeFirst() {
    assertThat(StoreChoice.of(null, Map.of("HOME", "/tmp/xyz"), "/home/me").uri())
        .isEqualTo("sqlite:/tmp/xyz/.local/state/holdfast/locks.db");
    assertThat(StoreChoice.of(null, Map.of("HOME", "/tmp/xyz"), "?").uri())
        .isEqualTo("sqlite:/tmp/xyz/.local/state/holdfast/locks.db");
    assertThat(StoreChoice.of(null, Map.of("HOME", "xyz"), "/home/me").uri())
        .isEqualTo("sqlite:/home/me/.local/state/holdfast/locks.db");
  }

  @ParameterizedTest
  @CsvSource({"'', HOME is not set", "xyz, 'HOME is \"xyz\", which is not absolute'"})
  void of_nothingAndNoHome_saysWhatToSet(String home, String said) {
    assertThatThrownBy(() -> StoreChoice.of(null, Map.of("HOME", home), "?"))
        .isInstanceOfSatisfying(
            CliException.class, e -> assertThat(e.code()).isEqualTo(Exit.CANNOT_CREATE))
        .hasMessageContaining(said)
        .hasMessageContaining("set HOME or XDG_STATE_HOME");
  }

  @Test
  void of_emptyVariable_isRefused() {
    assertThatThrownBy(() -> StoreChoice.of(null, Map.of("HOLDFAST_STORE", " "), "/home/me"))
        .isInstanceOfSatisfying(CliException.class, e -> assertThat(e.code()).isEqualTo(Exit.USAGE))
        .hasMessageContaining("HOLDFAST_STORE is empty");
  }

  @Test
  void of_relativeStateHome_isIgnoredAsXdgSays() {
    assertThat(
            StoreChoice.of(null, Map.of("XDG_STATE_HOME", "state"), "/home/me").uri())
        .isEqualTo("sqlite:/home/me/.local/state/holdfast/locks.db");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:secret@host:6379/1",
        "rediss://:secret@host",
        "redis-sentinel://host/name?holdfast.sentinel-password=secret",
        "jdbc:postgresql://host/db?user=me&password=secret",
        "jdbc:mysql://host/db?PASSWORD=secret"
      })
  void of_passwordInOption_warnsWithoutRepeatingIt(String uri) {
    StoreChoice choice = StoreChoice.of(uri, Map.of(), "/home/me");
    assertThat(choice.uri()).isEqualTo(uri);
    assertThat(choice.warnings())
        .singleElement()
        .asString()
        .contains("--store @FILE")
        .doesNotContain("secret");
    assertThat(choice).asString().doesNotContain("secret");
    assertThat(StoreChoice.of(null, Map.of("HOLDFAST_STORE", uri), "/home/me").warnings())
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://host:6379/1",
        "redis://user@host",
        "sqlite:/a/b@c:d.db",
        "etcd://a:1,b:2",
        "consul://a:1,b"
      })
  void of_noPassword_doesNotWarn(String uri) {
    assertThat(StoreChoice.of(uri, Map.of(), "/home/me").warnings()).isEmpty();
  }

  @Test
  void of_file_holdsTheAddress() throws IOException {
    Path file = folder.resolve("store");
    Files.writeString(file, "# where the locks are\n\n  redis://user:secret@host \n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    StoreChoice choice = StoreChoice.of("@" + file, Map.of(), "/home/me");
    assertThat(choice.uri()).isEqualTo("redis://user:secret@host");
    assertThat(choice.warnings()).isEmpty();
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(StoreChoice.of("@" + file, Map.of(), "/home/me").warnings())
        .singleElement()
        .asString()
        .contains("can be read by every user");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "memory:\nmemory:\n"})
  void of_fileWithoutOneAddress_isRefused(String content) throws IOException {
    Path file = folder.resolve("store");
    Files.writeString(file, content);
    assertUsage("@" + file, "must hold one address in one line");
  }

  @Test
  void of_missingFile_isRefused() {
    assertUsage("@" + folder.resolve("missing"), "cannot read");
  }

  @Test
  void of_emptyOption_isRefused() {
    assertUsage("", "--store is empty");
  }

  @Test
  void makeFolder_missing_isMadeForThisUserOnly() throws IOException {
    Path file = folder.resolve("a/b/holdfast/locks.db");
    StoreChoice.makeFolder(file);
    assertThat(Files.getPosixFilePermissions(folder.resolve("a/b/holdfast")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void makeFolder_fileInItsPlace_saysWhatToDo() throws IOException {
    Files.writeString(folder.resolve("state"), "");
    assertThatThrownBy(() -> StoreChoice.makeFolder(folder.resolve("state/holdfast/locks.db")))
        .hasMessageContaining("cannot use the state folder")
        .hasMessageContaining("set XDG_STATE_HOME")
        .extracting(e -> ((CliException) e).code())
        .isEqualTo(Exit.CANNOT_CREATE);
  }

  private static void assertUsage(String option, String message) {
    assertThatThrownBy(() -> StoreChoice.of(option, Map.of(), "/home/me"))
        .hasMessageContaining(message)
        .extracting(e -> ((CliException) e).code())
        .isEqualTo(Exit.USAGE);
  }
}
