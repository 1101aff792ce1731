// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Looks for a command as a shell does, so that a mistake is told before the lock is taken. */
final class CommandPath {
  private CommandPath() {}

  /**
   * Checks that a command can be executed.
   *
   * @param command a path if it has a slash, else a name to look for
   * @param searchPath the value of {@code PATH}
   * @return what to execute: the same, or a path where the name would be taken for an option
   * @throws CliException with 127 if it is not there, 126 if it cannot be executed, 64 if it is not there and is an option
   *     of {@code run}
   */
  static String check(String command, String searchPath) {
    if (command.isEmpty()) {
      throw notFound(command, "it has no name");
    }
    try {
      return command.indexOf('/') >= 0 ? checkFile(command) : search(command, searchPath);
    } catch (InvalidPathException e) {
      throw notFound(command, e.getReason());
    }
  }

  private static String checkFile(String command) {
    Path file = Path.of(command);
    if (!Files.exists(file)) {
      throw notFound(command, "no such file");
    }
    if (Files.isDirectory(file)) {
      throw notExecutable(command, "it is a folder");
    }
    if (!Files.isExecutable(file)) {
      throw notExecutable(command, "permission denied; chmod +x it");
    }
    return command;
  }

  private static String search(String name, String searchPath) {
    boolean found = false;
    for (String folder : searchPath.split(":", -1)) {
      Path file = Path.of(folder.isEmpty() ? "." : folder, name);
      if (Files.isRegularFile(file)) {
        if (Files.isExecutable(file)) {
          return name.startsWith("-") ? file.toAbsolutePath().toString() : name;
        }
        found = true;
      }
    }
    if (found) {
      throw notExecutable(name, "found in PATH without permission to execute it");
    }
    if (Misuse.isOptionOfRun(name)) {
      throw new CliException(
          Exit.USAGE, "'" + name + "' is an option of holdfast run: write it before NAME");
    }
    throw notFound(name, "not found in PATH");
  }

  private static CliException notFound(String command, String why) {
    boolean isLine = command.chars().anyMatch(Character::isWhitespace);
    String advice = isLine ? "; for a shell line, write sh -c '...'" : "";
    return new CliException(Exit.NOT_FOUND, "cannot run '" + command + "': " + why + advice);
  }

  private static CliException notExecutable(String command, String why) {
    return new CliException(Exit.NOT_EXECUTABLE, "cannot run '" + command + "': " + why);
  }
}
