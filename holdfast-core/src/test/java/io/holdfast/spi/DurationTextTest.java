// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "PT-1S, 0 ms",
    "PT0S, 0 ms",
    "PT0.000999999S, 0 ms",
    "PT0.2S, 200 ms",
    "PT0.999999999S, 999 ms",
    "PT1S, 1 s",
    "PT1.28S, 1.2 s",
    "PT1.099S, 1 s",
    "PT29.7S, 29.7 s",
    "PT59.999S, 59.9 s",
    "PT60S, 1 min",
    "PT65.9S, 1 min 5 s",
    "PT5M, 5 min",
    "PT59M59.9S, 59 min 59 s",
    "PT1H, 1 h",
    "PT1H5M30S, 1 h 5 min",
    "P1D, 1 d",
    "P2DT3H59M, 2 d 3 h",
    "P3660D, 3660 d"
  })
  void of_durations_inTwoUnitsAtMost(Duration duration, String expected) {
    assertThat(DurationText.of(duration)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "PT0S, 0 ms",
    "PT0.2S, 200 ms",
    "PT0.01S, 10 ms",
    "PT0.000999999S, 0.999999 ms",
    "PT0.000000001S, 0.000001 ms",
    "PT1S, 1 s",
    "PT10S, 10 s",
    "PT1.5S, 1.5 s",
    "PT1M1S, 1 min 1 s",
    "PT5M, 5 min",
    "PT1H0.5S, 1 h 0.5 s",
    "P3660D, 3660 d",
    "P3660DT0.000000001S, 3660 d 0.000000001 s",
    "P1DT2H3M4.005S, 1 d 2 h 3 min 4.005 s",
    "PT-1S, -1 s",
    "PT-0.001S, -1 ms"
  })
  void exact_durations_loseNothing(Duration duration, String expected) {
    assertThat(DurationText.exact(duration)).isEqualTo(expected);
  }

  @Test
  void theLongestDurations_areWritten() {
    Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    Duration least = Duration.ofSeconds(Long.MIN_VALUE);
    String text = "106751991167300 d 15 h 30 min 7.999999999 s";

    assertThat(DurationText.of(longest)).isEqualTo("106751991167300 d 15 h");
    assertThat(DurationText.of(least)).isEqualTo("0 ms");
    assertThat(DurationText.exact(longest)).isEqualTo(text);
    assertThat(DurationText.exact(least)).isEqualTo("-" + text);
    assertThat(DurationText.exact(least.plusNanos(1))).isEqualTo("-" + text);
  }
}
