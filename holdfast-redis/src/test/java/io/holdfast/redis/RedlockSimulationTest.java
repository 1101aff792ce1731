// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The right rule breaks no promise under faults; wrong ones are caught, by the promise that they break. For those that it
 * takes more luck to catch, see {@link RedlockCounterexamplesTest}.
 */
class RedlockSimulationTest {
  private static final int SEEDS = 100;

  /** With a longest lease above twice the reach, and with one below it. */
  @ParameterizedTest
  @CsvSource({"8000", "1000"})
  void rightRule_breaksNothing(long maxLeaseMillis) {
    int grants = 0;
    int lateGrants = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      RedlockSimulation simulation =
          new RedlockSimulation(seed, RedlockFlaw.NONE, Duration.ofMillis(maxLeaseMillis)).run();
      assertThat(simulation.violations).as("seed " + seed).isEmpty();
      grants += simulation.grants;
      lateGrants += simulation.lateGrants;
    }
    assertThat(grants).isGreaterThan(SEEDS * 5);
    assertThat(lateGrants).isGreaterThan(SEEDS);
  }

  @ParameterizedTest
  @CsvSource({
    "NO_MARKER, 8000, exclusion",
    "NO_MARKER, 1000, token",
    "LAST_ENDS_WITH_THE_LEASE, 8000, token",
    "NUMBERS_OF_THE_NODES, 8000, token",
    "WAITS_FOR_THE_ASKERS_LEASE, 8000, exclusion",
  })
  void wrongRule_isCaught(RedlockFlaw flaw, long maxLeaseMillis, String promise) {
    for (long seed = 0; seed < SEEDS; seed++) {
      RedlockSimulation simulation =
          new RedlockSimulation(seed, flaw, Duration.ofMillis(maxLeaseMillis)).run();
      if (simulation.violations.stream().anyMatch(each -> each.startsWith(promise))) {
        return;
      }
    }
    fail(flaw + " does not break " + promise);
  }
}
