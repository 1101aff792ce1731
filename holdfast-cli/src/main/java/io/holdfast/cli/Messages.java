// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Our lines on stderr: one each, beginning with {@code holdfast:}. */
final class Messages {
  /** For how long the exit waits for a stderr that takes nothing. */
  private static final Duration LONGEST_EXIT = Duration.ofSeconds(10);

  private final Stderr stderr;
  private final Level level;

  /** How much is said. */
  enum Level {
    /** Errors alone. */
    QUIET,
    USUAL,
    /** Each step, too. */
    VERBOSE
  }

  /** Writes to stderr. */
  Messages(Stderr stderr, Level level) {
    this.stderr = stderr;
    this.level = level;
  }

  /** Something went wrong. */
  void error(String line) {
    stderr.line(ours(line));
  }

  /** Something that is good to know. */
  void note(String line) {
    if (level != Level.QUIET) {
      stderr.line(ours(line));
    }
  }

  /** The same, unless it is not wanted any more at its turn. */
  void note(String line, BooleanSupplier wanted) {
    if (level != Level.QUIET) {
      stderr.line(ours(line), wanted);
    }
  }

  /** A step that was done. */
  void step(String line) {
    if (level == Level.VERBOSE) {
      stderr.line(ours(line));
    }
  }

  /** Shows a line that the next one replaces; for terminals. */
  void progress(String line) {
    progress(line, () -> true);
  }

  /** The same, unless it is not wanted any more at its turn. */
  void progress(String line, BooleanSupplier wanted) {
    if (level != Level.QUIET) {
      stderr.progress(ours(line), wanted);
    }
  }

  /** Takes the progress line away. */
  void clearProgress() {
    stderr.clearProgress();
  }

  /** A command begins: until {@link #settle} nobody waits for stderr. */
  void hurry() {
    stderr.hurry();
  }

  /** The command has ended, and its lock is given back: waits until what was said is written. */
  void settle() {
    stderr.settle(LONGEST_EXIT);
  }

  private static String ours(String line) {
    return "holdfast: " + Failures.oneLine(line);
  }
}
