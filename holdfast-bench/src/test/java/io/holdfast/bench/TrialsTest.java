// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who is measured, how often, and what does not count. */
class TrialsTest {
  private final ManualClock clock = new ManualClock();
  private final List<String> turns = new ArrayList<>();

  /** A turn of a second. */
  private Trials.Contender contender(String name, double rate) {
    return () -> {
      turns.add(name);
      clock.advance(Duration.ofSeconds(1));
      return rate;
    };
  }

  /** All have their turns; then those go on who have not done enough, in turns as well, and the slowest only for some time. */
  @Test
  void warmUp_goesOnUntilCyclesAreDoneOrTheTimeIsOver() throws Exception {
    Trials.warmUp(
        clock,
        2,
        Duration.ofSeconds(3),
        contender("floor", Trials.WARM_CYCLES),
        contender("disk", Trials.WARM_CYCLES / 4.0),
        contender("slow", 1));
    assertThat(turns)
        .containsExactly(
            "floor", "disk", "slow", "floor", "disk", "slow", "disk", "slow", "disk", "slow",
            "slow");
  }

  /** Without a time there are the turns alone. */
  @Test
  void warmUp_withoutTimeHasItsTurnsAlone() throws Exception {
    Trials.warmUp(clock, 2, Duration.ZERO, contender("slow", 1));
    assertThat(turns).containsExactly("slow", "slow");
  }

  /** Where a thread waits for others, nobody goes on until there are so many cycles; where it does not, all do. */
  @Test
  void interleave_goesOnOnlyWhereAsked() throws Exception {
    Trials.interleave(Scale.SMOKE, contender("slow", 0));
    assertThat(turns).hasSize(Scale.SMOKE.trials());
    turns.clear();
    double median = Trials.interleaveWarm(Scale.SMOKE, () -> measure(turns.isEmpty() ? 1 : 7))
        .get(0)
        .median();
    assertThat(turns).hasSizeGreaterThan(Scale.SMOKE.trials());
    assertThat(median).isEqualTo(7);
  }

  private double measure(double rate) {
    turns.add("slow");
    return rate;
  }
}
