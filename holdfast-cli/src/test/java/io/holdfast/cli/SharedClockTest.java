// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SharedClockTest {
  @TempDir
  Path folder = Path.of("set before each test");

  private final ManualClock ticker = new ManualClock();

  private SharedClock clock(String uptime) throws IOException {
    Path file = folder.resolve("uptime");
    Files.writeString(file, uptime);
    return new SharedClock(file, ticker);
  }

  @ParameterizedTest
  @CsvSource({"350735.47 234388.90, 3507354", "0.09 0.00, 0", "7.99 1.00, 79"})
  void tenths_uptime_roundsDown(String uptime, long tenths) throws IOException {
    assertThat(clock(uptime + "\n").tenths()).hasValue(tenths);
  }

  /** The time of day is another clock: what is told by it would be read by this one. */
  @ParameterizedTest
  @ValueSource(strings = {"", "soon\n", "350735\n"})
  void tenths_uptimeThatIsNotUnderstood_isEmpty(String uptime) throws IOException {
    assertThat(clock(uptime).tenths()).isEmpty();
  }

  @Test
  void tenths_uptimeGone_isEmpty() throws IOException {
    SharedClock clock = clock("350735.47 234388.90\n");
    Files.delete(folder.resolve("uptime"));
    assertThat(clock.tenths()).isEmpty();
  }

  @Test
  void tenths_withoutUptime_isTheTimeOfDay() {
    assertThat(new SharedClock(folder.resolve("none"), ticker).tenths())
        .hasValue(ticker.wallMillis() / 100);
  }
}
