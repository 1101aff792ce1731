// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Starts a program of the tests in a process of its own. */
final class JavaProgram {
  private JavaProgram() {}

  /** For a quick start and little memory, since many may run. */
  static List<String> commandLine(int megabytes, Class<?> program, String... arguments) {
    List<String> line = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        "-Xmx" + megabytes + "m",
        "-XX:TieredStopAtLevel=1",
        program.getName()));
    Collections.addAll(line, arguments);
    return line;
  }
}
