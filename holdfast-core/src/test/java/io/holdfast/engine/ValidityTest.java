// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Moment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The arithmetic of leases. */
class ValidityTest {
  @Test
  void valid_isLeaseLessOnePercentTenMillisAndGranularity() {
    assertThat(Validity.validNanos(Duration.ofSeconds(30).toNanos(), 1_000_000))
        .isEqualTo(Duration.ofMillis(30_000 - 300 - 10 - 1).toNanos());
  }

  @Test
  void valid_neverNegative() {
    assertThat(Validity.validNanos(Duration.ofMillis(5).toNanos(), 1_000_000)).isZero();
  }

  @Test
  void renewal_isDueBeforeRiskAndRiskBeforeTheEnd() {
    long lease = Duration.ofMillis(100).toNanos();
    long valid = Validity.validNanos(Duration.ofMillis(100).toNanos(), 1_000_000);
    assertThat(Validity.renewAfter(lease)).isLessThan(Validity.atRiskAfter(lease));
    assertThat(Validity.atRiskAfter(lease)).isLessThan(valid);
  }

  /** Holds that are due at about the same time are due at the same time, never later than they should. */
  @Test
  void renewalGrid_joinsNearTimes() {
    long lease = Duration.ofSeconds(30).toNanos();
    for (long phase : new long[] {0, 123_456_789}) {
      long first = Validity.renewalGrid(phase + 5, lease, phase);
      assertThat(first).isEqualTo(phase);
      assertThat(Validity.renewalGrid(phase + 268_000_000, lease, phase)).isEqualTo(first);
      assertThat(Validity.renewalGrid(phase + 269_000_000, lease, phase)).isGreaterThan(first);
      for (long due = phase - 1_000_000_000; due < phase + 1_000_000_000; due += 7_654_321) {
        assertThat(due - Validity.renewalGrid(due, lease, phase)).isBetween(0L, lease / 32);
        assertThat(due - Validity.renewalGrid(due, 64, phase)).isBetween(0L, 2L);
      }
    }
  }

  @Test
  void request_neverTakesLongerThanAThirdOfTheLease() {
    long second = 1_000_000_000L;
    assertThat(Validity.requestNanos(2 * second, 3 * second)).isEqualTo(second);
    assertThat(Validity.requestNanos(2 * second, 30 * second)).isEqualTo(2 * second);
  }

  @Test
  void retry_isATwelfthOfTheLease_andASecondAtMost() {
    assertThat(Validity.retryAfter(Duration.ofMillis(1_200).toNanos()))
        .isEqualTo(Duration.ofMillis(100).toNanos());
    assertThat(Validity.retryAfter(Duration.ofSeconds(30).toNanos()))
        .isEqualTo(Duration.ofSeconds(1).toNanos());
  }

  /** A suspended machine shows on the wall clock only, a wall clock that steps back on none. */
  @Test
  void elapsed_isTheLargerOfBothClocks() {
    Moment sent = new Moment(1_000, 50_000);
    assertThat(sent.elapsedNanos(1_500, 50_000)).isEqualTo(500);
    assertThat(sent.elapsedNanos(1_500, 53_000)).isEqualTo(3_000_000_000L);
    assertThat(sent.elapsedNanos(1_500, 10_000)).isEqualTo(500);
  }
}
