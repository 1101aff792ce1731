// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Objects;

/**
 * One thing that {@code doctor} looked at.
 *
 * @param level how it is
 * @param subject what was looked at, for example {@code journal mode}
 * @param message what was found
 * @param advice what to do; empty if nothing
 */
public record Finding(Level level, String subject, String message, String advice) {
  /** Checks that nothing is null. */
  public Finding {
    Objects.requireNonNull(level, "level");
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(message, "message");
    Objects.requireNonNull(advice, "advice");
  }

  /** How serious it is. */
  public enum Level {
    /** As it should be. */
    OK,
    /** Works, but weakens a promise or will hurt. */
    WARNING,
    /** Does not work. */
    PROBLEM
  }
}
