// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.AcquireUnknownException;
import io.holdfast.ConfigurationException;
import io.holdfast.HoldLostException;
import io.holdfast.StoreUnavailableException;

/** Says which exit code and which line a failure ends the program with. */
final class Failures {
  private Failures() {}

  /** Returns how to end; for a bug of ours the line asks for a report. */
  static CliException explain(Throwable failure) {
    if (failure instanceof CliException known) {
      return known;
    }
    return new CliException(code(failure), line(failure), failure);
  }

  private static int code(Throwable failure) {
    if (failure instanceof StoreUnavailableException store) {
      return switch (store.reason()) {
        case REFUSED -> Exit.REFUSED;
        case UNREACHABLE, FULL, NOT_REPLICATED, DAMAGED -> Exit.UNAVAILABLE;
      };
    }
    if (failure instanceof AcquireUnknownException) {
      return Exit.UNAVAILABLE;
    }
    if (failure instanceof AcquireTimeoutException) {
      return Exit.BUSY;
    }
    if (failure instanceof HoldLostException) {
      return Exit.LOST;
    }
    if (failure instanceof ConfigurationException || failure instanceof IllegalArgumentException) {
      return Exit.USAGE;
    }
    return Exit.BUG;
  }

  private static String line(Throwable failure) {
    String message = failure.getMessage();
    if (code(failure) != Exit.BUG) {
      return oneLine(message == null ? failure.toString() : message);
    }
    return "a bug in holdfast: " + oneLine(failure.toString())
        + " (more with -vv); please report it";
  }

  /** Control characters, line breaks among them, never reach the terminal. */
  static String oneLine(String text) {
    StringBuilder line = new StringBuilder(text.length());
    text.codePoints().map(c -> Character.isISOControl(c) ? ' ' : c).forEach(line::appendCodePoint);
    return line.toString().strip();
  }
}
