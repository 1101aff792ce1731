// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.lang.System.Logger.Level;

/**
 * The engine's log. It never throws: what comes after a line, such as a loss that is to be told or a lease that is to be
 * renewed, happens although the line cannot be written.
 */
final class Log {
  private static final System.Logger LOG = System.getLogger("io.holdfast");

  private Log() {}

  /** Logs a message, in which {@code {0}} stands for the first argument. */
  static void log(Level level, String message, Object... arguments) {
    try {
      LOG.log(level, message, arguments);
    } catch (Throwable unwritten) {
      // there is no other place to say it
    }
  }

  /** Logs a message as it is, with what was thrown. */
  static void thrown(Level level, String message, Throwable why) {
    try {
      LOG.log(level, message, why);
    } catch (Throwable unwritten) {
      why.addSuppressed(unwritten);
    }
  }
}
