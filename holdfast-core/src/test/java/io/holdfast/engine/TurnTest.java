// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long one process may have a lock to itself while others wait. */
class TurnTest {
  private static final long BEGAN = 100;

  @Test
  void isOver_afterSoManyHolders() {
    Turn turn = Turn.granted(BEGAN);
    for (int i = 0; i < HandOver.LIMIT_WHEN_OTHERS_WAIT; i++) {
      assertThat(turn.isOver(BEGAN)).isFalse();
      turn.passedOn();
    }
    assertThat(turn.isOver(BEGAN)).isTrue();
  }

  @Test
  void isOver_afterSoLong() {
    Turn noticed = Turn.noticed(BEGAN);
    assertThat(noticed.isOver(BEGAN + HandOver.NANOS_WHEN_OTHERS_WAIT - 1)).isFalse();
    assertThat(noticed.isOver(BEGAN + HandOver.NANOS_WHEN_OTHERS_WAIT)).isTrue();
    Turn granted = Turn.granted(BEGAN);
    assertThat(granted.isOver(BEGAN + HandOver.GRANTED_TURN_NANOS - 1)).isFalse();
    assertThat(granted.isOver(BEGAN + HandOver.GRANTED_TURN_NANOS)).isTrue();
  }
}
