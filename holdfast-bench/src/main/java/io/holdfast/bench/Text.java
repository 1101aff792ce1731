// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.math.BigDecimal;
import java.util.Locale;

/** Numbers and sentences, the same everywhere. */
final class Text {
  private Text() {}

  @SuppressWarnings("AnnotateFormatMethod")
  static String of(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }

  /** Writes a number without digits that nobody can trust. */
  static String number(double value) {
    if (value >= 1000 || value == 0) {
      return of("%,.0f", value);
    }
    return value >= 100 ? of("%.0f", value) : of(value >= 10 ? "%.1f" : "%.2f", value);
  }

  /** Writes a number that stands beside an axis. */
  static String tick(double value) {
    return value >= 1 || value == 0
        ? of("%,.0f", value)
        : BigDecimal.valueOf(value).toPlainString();
  }
}
