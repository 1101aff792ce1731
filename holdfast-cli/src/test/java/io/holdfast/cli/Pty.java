// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.testkit.process.Needs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Runs commands on a terminal, with script(1) of util-linux. */
final class Pty {
  static final String CTRL_C = "\003";
  static final String CTRL_D = "\004";
  static final String CTRL_Z = "\032";

  private Pty() {}

  /** Ends the test, saying why, where there is no script(1) that we know. */
  static void require() {
    boolean available;
    try {
      Process process =
          new ProcessBuilder("script", "--version").redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      available = said.contains("util-linux");
    } catch (IOException e) {
      available = false;
    }
    Needs.that(available, "the terminal is not tested: no script(1) of util-linux");
  }

  /** Starts a command with a terminal of its own; what is typed on the job's stdin is typed there. */
  static Job start(Processes processes, Map<String, String> environment, List<String> line) {
    String command = line.stream().map(Pty::quote).collect(Collectors.joining(" "));
    return processes.start(environment, List.of("script", "-qfec", "exec " + command, "/dev/null"));
  }

  private static String quote(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
