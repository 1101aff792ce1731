// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.AcquireUnknownException;
import io.holdfast.ConfigurationException;
import io.holdfast.HoldLostException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

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
      return code(store.reason());
    }
    if (failure instanceof StoreException store) {
      return code(store.reason());
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

  private static int code(StoreUnavailableException.Reason reason) {
    return switch (reason) {
      case REFUSED -> Exit.REFUSED;
      case UNREACHABLE, FULL, NOT_REPLICATED, DAMAGED -> Exit.UNAVAILABLE;
    };
  }

  private static String line(Throwable failure) {
    String message = failure.getMessage();
    if (code(failure) != Exit.BUG) {
      return oneLine(message == null ? failure.toString() : message);
    }
    return "a bug in holdfast: " + oneLine(failure.toString())
        + " (more with -vv); please report it";
  }

  /** The words of {@link #explain}, for a failure of a store's stage. */
  static CliException explainStage(Exception failure, int seconds) {
    if (failure instanceof TimeoutException) {
      return new CliException(
          Exit.UNAVAILABLE, "the store did not answer within " + seconds + " s", failure);
    }
    Throwable cause = failure;
    while ((cause instanceof ExecutionException || cause instanceof CompletionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return explain(cause);
  }

  /** A text in one line; nothing in it moves, colours or reorders what the terminal shows. */
  static String oneLine(String text) {
    return harmless(text).strip();
  }

  /** The same with the blanks around it. */
  static String harmless(String text) {
    StringBuilder line = new StringBuilder(text.length());
    text.codePoints().map(c -> isControl(c) ? ' ' : c).forEach(line::appendCodePoint);
    return line.toString();
  }

  /** Whether a character is no text, but tells a terminal what to do, where a line ends, or in which direction to write. */
  static boolean isControl(int c) {
    return Character.isISOControl(c)
        || c == 0x61c
        || c == 0x200e
        || c == 0x200f
        || (c >= 0x2028 && c <= 0x202e)
        || (c >= 0x2066 && c <= 0x2069);
  }
}
