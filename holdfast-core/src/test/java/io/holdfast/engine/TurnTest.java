// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long one process may have a lock to itself while others wait. */
class TurnTest {
  private static final long BEGAN = 100;
  private final Turn turn = new Turn(BEGAN);

  @Test
  void isOver_afterSoManyHolders() {
    for (int i = 0; i < HandOver.LIMIT_WHEN_OTHERS_WAIT; i++) {
      assertThat(turn.isOver(BEGAN)).isFalse();
      turn.passedOn();
    }
    assertThat(turn.isOver(BEGAN)).isTrue();
  }

  @Test
  void isOver_afterSoLong() {
    assertThat(turn.isOver(BEGAN + HandOver.NANOS_WHEN_OTHERS_WAIT - 1)).isFalse();
    assertThat(turn.isOver(BEGAN + HandOver.NANOS_WHEN_OTHERS_WAIT)).isTrue();
  }
}
