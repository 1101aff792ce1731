// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import picocli.CommandLine.Option;

/** The options {@code -q} and {@code -v}, which all commands have. */
final class Verbosity {
  @Option(
      names = {"-q", "--quiet"},
      description = "Say nothing but errors.")
  boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description =
          "Say on stderr what is done, and log what the library notices; -vv logs everything.")
  boolean[] verbose = {};

  /** Sets up logging, and returns where to write. */
  Messages messages() {
    if (quiet && verbose.length > 0) {
      throw new CliException(Exit.USAGE, "--quiet and --verbose exclude each other");
    }
    Logging.verbosity(verbose.length);
    return new Messages(
        Stderr.ours(),
        quiet
            ? Messages.Level.QUIET
            : verbose.length > 0 ? Messages.Level.VERBOSE : Messages.Level.USUAL);
  }
}
