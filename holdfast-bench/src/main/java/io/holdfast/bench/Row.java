// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * One line of the table.
 *
 * @param name what was measured
 * @param chinese the same, for the other README
 * @param measured the numbers, with least and greatest
 * @param bar what it has to reach
 * @param value what it has reached
 * @param met whether that is enough
 * @param load what else the machine had to do: the load average of the last minute, at the end of the measurement
 */
record Row(
    String name,
    String chinese,
    String measured,
    String bar,
    String value,
    boolean met,
    double load) {
  /** Makes a row now, so that the load is that of its measurement. */
  static Row now(
      String name, String chinese, String measured, String bar, String value, boolean met) {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    return new Row(name, chinese, measured, bar, value, met, load);
  }

  /** Formats numbers the same everywhere. */
  @SuppressWarnings("AnnotateFormatMethod")
  static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }

  /** A median with what it lies between, without digits that nobody can trust. */
  static String spread(Samples samples, String unit) {
    return short3(samples.median()) + " " + unit + " (" + short3(samples.least()) + "–"
        + short3(samples.greatest()) + ")";
  }

  private static String short3(double value) {
    if (value >= 1000) {
      return text("%,.0f", value);
    }
    return value >= 100 ? text("%.0f", value) : text(value >= 10 ? "%.1f" : "%.2f", value);
  }

  String verdict() {
    return met ? "met" : "missed";
  }
}
