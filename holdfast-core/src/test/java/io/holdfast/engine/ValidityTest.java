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
    assertThat(Validity.validNanos(Duration.ofSeconds(30), Duration.ofMillis(1)))
        .isEqualTo(Duration.ofMillis(30_000 - 300 - 10 - 1).toNanos());
  }

  @Test
  void valid_neverNegative() {
    assertThat(Validity.validNanos(Duration.ofMillis(5), Duration.ofMillis(1))).isZero();
  }

  @Test
  void renewal_isDueBeforeRiskAndRiskBeforeTheEnd() {
    long lease = Duration.ofMillis(100).toNanos();
    long valid = Validity.validNanos(Duration.ofMillis(100), Duration.ofMillis(1));
    assertThat(Validity.renewAfter(lease)).isLessThan(Validity.atRiskAfter(lease));
    assertThat(Validity.atRiskAfter(lease)).isLessThan(valid);
  }

  @Test
  void request_neverTakesLongerThanAThirdOfTheLease() {
    long second = 1_000_000_000L;
    assertThat(Validity.requestNanos(2 * second, 3 * second)).isEqualTo(second);
    assertThat(Validity.requestNanos(2 * second, 30 * second)).isEqualTo(2 * second);
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
