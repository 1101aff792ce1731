// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static org.junit.jupiter.api.Assertions.fail;

import io.holdfast.testkit.history.Violation;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A judge is believed only as long as it catches what is wrong. */
class NegativeControlTest {
  private static final long SEEDS = 100;

  /** The first seed that catches each. */
  private static final Map<Flaw, Long> CAUGHT = new EnumMap<>(Flaw.class);

  @AfterAll
  static void printTable() {
    System.out.println("flaw, caught by, first in seed");
    CAUGHT.forEach((flaw, seed) -> System.out.println(flaw + ", " + flaw.caughtBy() + ", " + seed));
  }

  /** Every flawed protocol is caught by the invariant that it breaks, within a hundred seeds. */
  @ParameterizedTest
  @EnumSource
  void aFlaw_isCaughtByItsOwnInvariant(Flaw flaw) {
    Map<String, Integer> others = new TreeMap<>();
    for (long seed = 0; seed < SEEDS; seed++) {
      for (Violation violation : Run.of(seed, flaw).violations()) {
        if (violation.invariant() == flaw.caughtBy()) {
          CAUGHT.put(flaw, seed);
          return;
        }
        others.merge(violation.invariant().name(), 1, Integer::sum);
      }
    }
    fail(flaw + " was not caught by " + flaw.caughtBy() + " in " + SEEDS + " seeds; others: "
        + others);
  }
}
