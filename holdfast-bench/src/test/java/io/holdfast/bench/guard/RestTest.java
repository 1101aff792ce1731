// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RestTest {
  private final ManualClock clock = new ManualClock();
  private long count;
  private final Rest rest = new Rest(() -> Map.of("requests", count), clock);

  /** A machine that stood still for a second has not waited for a second. */
  @Test
  void standstill_isNoRest() {
    assertThat(looks(Duration.ofSeconds(1))).isGreaterThan(10);
  }

  @Test
  void request_beginsTheRestAnew() {
    int all = looks(Duration.ofMillis(1));
    assertThat(all).isEqualTo(26);
    count++;
    assertThat(looks(Duration.ofMillis(1))).isEqualTo(all + 1);
  }

  /** Returns how many looks it takes, with so much time between them. */
  private int looks(Duration between) {
    int looks = 0;
    do {
      clock.advance(between);
      looks++;
    } while (!rest.isThere());
    return looks;
  }
}
