// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.lang.System.Logger.Level;

/** How much is logged; nothing by default. */
public final class Logging {
  private static volatile Level least = Level.OFF;

  /** Called by {@code java.util.logging}, when a library uses it: leaves it without handlers. */
  public Logging() {}

  /** Silences libraries, and sets what is logged of ours: 0 nothing, 1 what matters, 2 everything. */
  static void verbosity(int verbosity) {
    if (verbosity < 2) {
      System.setProperty("java.util.logging.config.class", Logging.class.getName());
    }
    least = switch (verbosity) {
      case 0 -> Level.OFF;
      case 1 -> Level.INFO;
      default -> Level.ALL;
    };
  }

  static boolean shows(Level level) {
    return level != Level.OFF && level.getSeverity() >= least.getSeverity();
  }
}
