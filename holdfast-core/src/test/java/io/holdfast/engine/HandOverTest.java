// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static io.holdfast.engine.HandOver.Verdict.GIVE_BACK;
import static io.holdfast.engine.HandOver.Verdict.PASS_ON;
import static io.holdfast.engine.HandOver.Verdict.RENEW_FIRST;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a hold passes to the next thread without the store. */
class HandOverTest {
  private static final long LEASE = 30_000_000_000L;
  private static final long FULL = 29_000_000_000L;

  @Test
  void alone_passesOnUntilTheTokensOfTheGrantAreUsedUp() {
    assertThat(HandOver.decide(true, 0, false, LEASE, FULL)).isEqualTo(PASS_ON);
    assertThat(HandOver.decide(true, 254, false, LEASE, FULL)).isEqualTo(PASS_ON);
    assertThat(HandOver.decide(true, 255, false, LEASE, FULL)).isEqualTo(GIVE_BACK);
  }

  @Test
  void fixedLease_isNeverPassedOn() {
    assertThat(HandOver.decide(false, 0, false, LEASE, FULL)).isEqualTo(GIVE_BACK);
  }

  @Test
  void othersTurn_isGivenBack() {
    assertThat(HandOver.decide(true, 1, true, LEASE, FULL)).isEqualTo(GIVE_BACK);
  }

  @Test
  void littleLeft_isRenewedFirst() {
    assertThat(HandOver.decide(true, 0, false, LEASE, LEASE / 3 * 2)).isEqualTo(PASS_ON);
    assertThat(HandOver.decide(true, 0, false, LEASE, LEASE / 3 * 2 - 1)).isEqualTo(RENEW_FIRST);
  }
}
