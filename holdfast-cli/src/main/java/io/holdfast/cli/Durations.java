// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people type them: {@code 30}, {@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}, {@code 1d}. */
final class Durations {
  /** Ten years: what a lock can be told to last, and far from any overflow. */
  private static final Duration LONGEST = Duration.ofDays(3660);

  private static final Pattern FORM = Pattern.compile("([0-9]{1,15})(ms|s|m|h|d|)");

  private Durations() {}

  /**
   * Reads a duration.
   *
   * @throws IllegalArgumentException if it is none, saying what would be one
   */
  static Duration parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      String small = text.toLowerCase(Locale.ROOT);
      throw new IllegalArgumentException("'" + Failures.oneLine(text) + "' is no duration; write "
          + (FORM.matcher(small).matches()
              ? small
              : "for example 30 (seconds), 500ms, 30s, 5m, 1h or 1d"));
    }
    // Capped before it is multiplied: nothing overflows, and what was capped is still too long.
    long count = Math.min(Long.parseLong(parts.group(1)), LONGEST.toMillis() + 1);
    Duration duration = Duration.ofMillis(count)
        .multipliedBy(
            switch (parts.group(2)) {
              case "ms" -> 1;
              case "m" -> 60_000;
              case "h" -> 3_600_000;
              case "d" -> 86_400_000;
              default -> 1000;
            });
    if (duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("'" + text + "' is too long; at most 3660d");
    }
    return duration;
  }
}
