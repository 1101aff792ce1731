// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long one process may have a lock to itself while others wait. */
class TurnTest {
  private final Turn turn = new Turn();

  @Test
  void nobodyWaits_neverOver() {
    for (int i = 0; i < 1_000; i++) {
      turn.passedOn();
    }
    assertThat(turn.isOver(Long.MAX_VALUE)).isFalse();
  }

  @Test
  void countsFromWhenOthersAreKnownToWait() {
    for (int i = 0; i < 1_000; i++) {
      turn.passedOn();
    }
    turn.othersWait(true, 100);
    assertThat(turn.isOver(100)).isFalse();
    for (int i = 0; i < HandOver.LIMIT_WHEN_OTHERS_WAIT; i++) {
      assertThat(turn.isOver(100)).isFalse();
      turn.passedOn();
    }
    assertThat(turn.isOver(100)).isTrue();
  }

  /** Saying it again does not give more time: the turn spans grants. */
  @Test
  void repeatedNews_doesNotStartANewTurn() {
    turn.othersWait(true, 0);
    turn.othersWait(true, HandOver.NANOS_WHEN_OTHERS_WAIT - 1);
    assertThat(turn.isOver(HandOver.NANOS_WHEN_OTHERS_WAIT)).isTrue();
  }

  @Test
  void yielded_startsAfresh() {
    turn.othersWait(true, 0);
    turn.yielded();
    assertThat(turn.isOver(Long.MAX_VALUE / 2)).isFalse();
    turn.othersWait(true, 1_000_000_000L);
    assertThat(turn.isOver(1_000_000_001L)).isFalse();
  }
}
