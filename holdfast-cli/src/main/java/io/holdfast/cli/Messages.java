// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.PrintStream;
import java.util.concurrent.locks.ReentrantLock;

/** Our lines on stderr: one each, beginning with {@code holdfast:}. */
final class Messages {
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final PrintStream stderr;
  private final boolean quiet;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean progressShown;

  /**
   * Writes to a stream.
   *
   * @param quiet whether only errors are written
   */
  Messages(PrintStream stderr, boolean quiet) {
    this.stderr = stderr;
    this.quiet = quiet;
  }

  /** Something went wrong. */
  void error(String line) {
    write(line);
  }

  /** Something that is good to know. */
  void note(String line) {
    if (!quiet) {
      write(line);
    }
  }

  /** Shows a line that the next one replaces; for terminals. */
  void progress(String line) {
    if (quiet) {
      return;
    }
    lock.lock();
    try {
      progressShown = true;
      stderr.print(CLEAR_LINE + "holdfast: " + Failures.oneLine(line));
      stderr.flush();
    } finally {
      lock.unlock();
    }
  }

  /** Takes the progress line away. */
  void clearProgress() {
    lock.lock();
    try {
      if (progressShown) {
        progressShown = false;
        stderr.print(CLEAR_LINE);
        stderr.flush();
      }
    } finally {
      lock.unlock();
    }
  }

  private void write(String line) {
    lock.lock();
    try {
      clearProgress();
      stderr.println("holdfast: " + Failures.oneLine(line));
      stderr.flush();
    } finally {
      lock.unlock();
    }
  }
}
