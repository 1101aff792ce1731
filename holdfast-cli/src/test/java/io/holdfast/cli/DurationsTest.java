// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "30, PT30S",
    "500ms, PT0.5S",
    "30s, PT30S",
    "5m, PT5M",
    "1h, PT1H",
    "1d, PT24H",
    "3660d, PT87840H"
  })
  void parse_whatPeopleType_isRead(String text, Duration expected) {
    assertThat(Durations.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "-1", "-1s", "1.5h", "1 h", "5min", "h", "1h5m", "٣", "1\n", "0x1", "+1"})
  void parse_anythingElse_isRefusedWithExamples(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is no duration; write for example 30 (seconds), 500ms");
  }

  @ParameterizedTest
  @CsvSource({"5S, 5s", "1H, 1h", "500MS, 500ms"})
  void parse_largeUnit_isRefusedWithTheSmallOne(String text, String small) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'" + text + "' is no duration; write " + small);
  }

  @ParameterizedTest
  @ValueSource(strings = {"3661d", "999999999999999d", "999999999999999", "316224000001ms"})
  void parse_tooLong_isRefusedWithoutOverflow(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 3660d");
  }
}
