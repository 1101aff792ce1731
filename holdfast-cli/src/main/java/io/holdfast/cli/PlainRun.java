// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads the usual command lines of {@code holdfast run} without picocli, which would take a third of the time until the
 * command starts: its classes are too old for a class-data archive. What is not plain is left to picocli, and so is
 * everything that is wrong; a test holds both to the same result.
 */
final class PlainRun {
  private static final Pattern EXIT_CODE = Pattern.compile("0|[1-9][0-9]{0,2}");

  private final RunCommand run = new RunCommand();
  private final Set<String> given = new HashSet<>();

  private PlainRun() {}

  /** Returns the command, ready to be called; empty if picocli has to read the line. */
  static Optional<RunCommand> parse(String... arguments) {
    if (arguments.length < 3 || !arguments[0].equals("run")) {
      return Optional.empty();
    }
    PlainRun plain = new PlainRun();
    int next = 1;
    while (next < arguments.length && arguments[next].startsWith("-")) {
      int taken = plain.option(arguments, next);
      if (taken == 0) {
        return Optional.empty();
      }
      next += taken;
    }
    if (next + 1 >= arguments.length) {
      return Optional.empty();
    }
    plain.run.name = arguments[next];
    plain.run.command = List.copyOf(Arrays.asList(arguments).subList(next + 1, arguments.length));
    return Optional.of(plain.run);
  }

  /** Reads one option; returns how many words it has taken, 0 if it is not plain. */
  private int option(String[] arguments, int at) {
    String word = arguments[at];
    if (flag(word)) {
      return 1;
    }
    int equals = word.startsWith("--") ? word.indexOf('=') : -1;
    boolean joined = equals > 0;
    if (!joined && at + 1 == arguments.length) {
      return 0;
    }
    String name = joined ? word.substring(0, equals) : word;
    String value = joined ? word.substring(equals + 1) : arguments[at + 1];
    if (value.isEmpty() || value.startsWith("-")) {
      return 0;
    }
    try {
      return value(name, value) ? (joined ? 1 : 2) : 0;
    } catch (IllegalArgumentException e) {
      // picocli says so better
      return 0;
    }
  }

  private boolean flag(String word) {
    switch (word) {
      case "-n", "--no-wait" -> run.noWait = true;
      case "--fair" -> run.fair = true;
      case "-q", "--quiet" -> run.verbosity.quiet = true;
      default -> {
        return false;
      }
    }
    return first(word.equals("--no-wait") ? "-n" : word.equals("--quiet") ? "-q" : word);
  }

  private boolean value(String name, String value) {
    switch (name) {
      case "--store" -> run.store.store = value;
      case "-w", "--wait" -> run.wait = Durations.parse(value);
      case "-E", "--busy-exit" -> run.busyExit = exitCode(value);
      case "--lease" -> run.lease = Durations.parse(value);
      case "--at-least" -> run.atLeast = Durations.parse(value);
      case "--at-most" -> run.atMost = Durations.parse(value);
      case "--grace" -> run.grace = Durations.parse(value);
      case "--on-lost" -> run.onLost = RunCommand.OnLoss.valueOf(value);
      default -> {
        return false;
      }
    }
    return first(name.replace("--wait", "-w").replace("--busy-exit", "-E"));
  }

  /** Whether an option is given for the first time; picocli refuses the second. */
  private boolean first(String name) {
    return given.add(name);
  }

  private static int exitCode(String value) {
    if (!EXIT_CODE.matcher(value).matches()) {
      throw new IllegalArgumentException(value);
    }
    return Integer.parseInt(value);
  }
}
