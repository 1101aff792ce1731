// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Buckets of waits. */
class WaitsTest {
  /** A percentile is at most one bucket too high, and never above the maximum. */
  @Test
  void waits_areCountedWithinASixteenth() {
    Waits waits = new Waits();
    for (int i = 1; i <= 1000; i++) {
      waits.add(i * 1000L);
    }
    assertThat(waits.micros(0.5)).isBetween(500.0, 532.0);
    assertThat(waits.micros(0.99)).isBetween(990.0, 1000.0);
    assertThat(waits.maxMicros()).isEqualTo(1000);
    assertThat(Waits.decode(waits.encode()).micros(0.5)).isEqualTo(waits.micros(0.5));
  }
}
