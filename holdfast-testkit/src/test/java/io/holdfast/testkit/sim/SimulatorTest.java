// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The right protocol stands everything that the simulator does to it. */
class SimulatorTest {
  /** How many seeds are run: {@code -Dholdfast.seeds=1000000} for a night. */
  private static final long SEEDS = Long.getLong("holdfast.seeds", 2_000);

  /** What a seed comes to at the least; 400 are asked of each. */
  private static final long OPERATIONS = 417;

  /** Fewer need not show everything. */
  private static final long MANY = 1_000;

  private static final int MOST_SAID = 10;

  /** From which on: {@code -Dholdfast.firstSeed=...} for others than always the same. */
  private static final long FIRST = Long.getLong("holdfast.firstSeed", 0);

  /** What the state machines of ARCHITECTURE.md can do, at the least. */
  private static final List<String> MOVES = List.of(
      "ASKING->WAITING",
      "ASKING->HELD",
      "ASKING->ENDING",
      "WAITING->ASKING",
      "WAITING->HELD",
      "WAITING->ENDING",
      "HELD->ENDING",
      "ENDING->OVER",
      "HELD->AT_RISK",
      "AT_RISK->HELD",
      "HELD->LOST",
      "AT_RISK->LOST",
      "HELD->RELEASED",
      "AT_RISK->RELEASED");

  /** No seed breaks an invariant; all kinds of faults take effect, and all states are reached. */
  @Test
  void everyInvariant_holdsInEverySeed() throws InterruptedException {
    check(FIRST, SEEDS);
  }

  /** Runs seeds, prints what came of them, and says what they should have shown. */
  static void check(long first, long seeds) throws InterruptedException {
    List<String> broken = Collections.synchronizedList(new ArrayList<>());
    Totals totals = Simulate.range(first, first + seeds, null, run -> {
      broken.add(run.report());
      // a seed in which time stands still takes as long as hundreds of others
      return broken.size() < MOST_SAID;
    });
    System.out.println(totals);
    assertEquals(List.of(), broken, () -> String.join("\n", broken));
    assertTrue(
        totals.counted() * 100 >= seeds * 99,
        () -> "too many seeds do not count: " + totals.counted() + " of " + seeds);
    if (seeds >= MANY) {
      assertTrue(
          totals.operations() >= seeds * OPERATIONS,
          () -> "too few operations: " + totals.operations());
      for (Fault fault : Fault.values()) {
        assertTrue(totals.of(fault) > 0, () -> "no " + fault + " ever took effect");
      }
      for (String move : MOVES) {
        assertTrue(totals.toString().contains(move + " "), () -> "never seen: " + move);
      }
    }
  }

  /** The same seed is the same run, event by event. */
  @Test
  void aSeed_isReplayed() {
    for (long seed = 0; seed < 20; seed++) {
      assertEquals(Run.of(seed).history(), Run.of(seed).history());
    }
  }
}
