// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandPathTest {
  @TempDir
  Path folder = Path.of("set by JUnit");

  @BeforeEach
  void makeFiles() throws IOException {
    make("good", "rwxr-xr-x");
    make("plain", "rw-r--r--");
    make("-dash", "rwxr-xr-x");
  }

  @Test
  void check_executable_isTakenAsItWasGiven() {
    assertThat(CommandPath.check(folder + "/good", "")).isEqualTo(folder + "/good");
    assertThat(CommandPath.check("good", "/nowhere:" + folder)).isEqualTo("good");
  }

  @Test
  void check_nameLikeAnOption_becomesAPath() {
    assertThat(CommandPath.check("-dash", folder.toString()))
        .isEqualTo(folder.resolve("-dash").toString());
  }

  @Test
  void check_missing_is127() {
    assertRefused("missing", folder.toString(), Exit.NOT_FOUND);
    assertRefused(folder + "/missing", "", Exit.NOT_FOUND);
    assertRefused("", folder.toString(), Exit.NOT_FOUND);
    assertRefused("good/", folder.toString(), Exit.NOT_FOUND);
  }

  @Test
  void check_notExecutable_is126() {
    assertRefused("plain", folder.toString(), Exit.NOT_EXECUTABLE);
    assertRefused(folder + "/plain", "", Exit.NOT_EXECUTABLE);
    assertRefused(folder.toString(), "", Exit.NOT_EXECUTABLE);
  }

  private static void assertRefused(String command, String path, int code) {
    assertThatThrownBy(() -> CommandPath.check(command, path))
        .hasMessageContaining("cannot run '" + command + "'")
        .extracting(e -> ((CliException) e).code())
        .isEqualTo(code);
  }

  private void make(String name, String mode) throws IOException {
    Files.writeString(folder.resolve(name), "#!/bin/sh\n");
    Files.setPosixFilePermissions(folder.resolve(name), PosixFilePermissions.fromString(mode));
  }
}
