// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.measure.HandOver.Turn;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How turns are judged that two had. */
class HandOverTest {
  private final Waits waits = new Waits();

  @Test
  void turnsOfTwo_giveTheTimesBetween() {
    List<Turn> first = List.of(new Turn(0, 100_000), new Turn(300_000, 400_000));
    List<Turn> second = List.of(new Turn(150_000, 250_000));
    assertThat(HandOver.judge(List.of(first, second), waits)).isZero();
    assertThat(waits.maxMicros()).isEqualTo(50);
    assertThat(waits.micros(0)).isEqualTo(50);
  }

  /** Nobody has handed it over to whoever takes it twice. */
  @Test
  void turnsOfOne_areNoHandOver() {
    List<Turn> turns = List.of(new Turn(0, 100_000), new Turn(300_000, 400_000));
    assertThat(HandOver.judge(List.of(turns, List.of()), waits)).isZero();
    assertThat(waits.maxMicros()).isZero();
  }

  @Test
  void turnsThatOverlap_areViolations() {
    List<Turn> first = List.of(new Turn(0, 100_000));
    List<Turn> second = List.of(new Turn(99_999, 250_000));
    assertThat(HandOver.judge(List.of(first, second), waits)).isEqualTo(1);
  }
}
