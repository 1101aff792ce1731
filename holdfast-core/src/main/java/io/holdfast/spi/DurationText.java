// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Objects;

/** Durations as people read them: {@code 200 ms}, {@code 29.7 s}, {@code 5 min}, {@code 1 h 5 min}, {@code 30 d}. */
public final class DurationText {
  private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

  private DurationText() {}

  /**
   * Writes how long something took or lasts: at most two units, cut off and never rounded up.
   *
   * @param duration any duration; a negative one reads as zero
   * @return for example {@code 250 ms}, {@code 29.7 s}, {@code 1 h 5 min}
   */
  public static String of(Duration duration) {
    Objects.requireNonNull(duration, "duration");
    if (duration.isNegative()) {
      return "0 ms";
    }
    if (duration.toSeconds() == 0) {
      return duration.toMillis() + " ms";
    }
    if (duration.toMinutes() == 0) {
      int tenths = duration.toMillisPart() / 100;
      return duration.toSeconds() + (tenths == 0 ? "" : "." + tenths) + " s";
    }
    if (duration.toHours() == 0) {
      return duration.toMinutes() + " min" + more(duration.toSecondsPart(), "s");
    }
    if (duration.toDays() == 0) {
      return duration.toHours() + " h" + more(duration.toMinutesPart(), "min");
    }
    return duration.toDays() + " d" + more(duration.toHoursPart(), "h");
  }

  /**
   * Writes a duration to the last nanosecond: for a limit, and for what was refused because of it, which may be next to
   * it.
   *
   * @param duration any duration
   * @return for example {@code 30 s}, {@code 0.999999 ms}, {@code 1 min 0.5 s}, {@code -1 s}
   */
  public static String exact(Duration duration) {
    Objects.requireNonNull(duration, "duration");
    if (duration.isNegative()) {
      boolean tooLong = duration.compareTo(LONGEST.negated()) < 0;
      return "-" + exact(tooLong ? LONGEST : duration.negated());
    }
    if (duration.toSeconds() == 0) {
      return decimal(duration.toNanos(), 6) + " ms";
    }
    String text = duration.toDays() == 0 ? "" : " " + duration.toDays() + " d";
    text += more(duration.toHoursPart(), "h") + more(duration.toMinutesPart(), "min");
    long nanos = duration.toSecondsPart() * 1_000_000_000L + duration.toNanosPart();
    text += nanos == 0 ? "" : " " + decimal(nanos, 9) + " s";
    return text.substring(1);
  }

  private static String more(int count, String unit) {
    return count == 0 ? "" : " " + count + " " + unit;
  }

  private static String decimal(long count, int digits) {
    BigDecimal value = BigDecimal.valueOf(count, digits).stripTrailingZeros();
    return value.toPlainString();
  }
}
