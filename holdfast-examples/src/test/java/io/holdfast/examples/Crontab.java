// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.io.IOException;
import java.nio.file.Path;

/** The line of docs/cron.md that readers copy. */
final class Crontab {
  static final Path PAGE = Path.of("..", "docs", "cron.md");

  private static final String TIME = "0 * * * * ";

  private Crontab() {}

  static String line() throws IOException {
    return Markdown.read(PAGE).blocks().stream()
        .filter(block -> block.language().equals("crontab"))
        .map(Markdown.Block::code)
        .findFirst()
        .orElseThrow();
  }

  /** What the line runs. */
  static String command() throws IOException {
    String line = line();
    if (!line.startsWith(TIME)) {
      throw new AssertionError("not a line for each hour: " + line);
    }
    return line.substring(TIME.length());
  }
}
