// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockOptions;
import io.holdfast.cli.KillPlan.Step;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KillPlanTest {
  @ParameterizedTest
  @CsvSource({
    "PT30S, PT7.5S, PT2S", // the default lease
    "PT12S, PT3S, PT1S",
    "PT1S, PT0.25S, PT0.083333333S",
    "PT1H, PT10S, PT2S", // never more than that
  })
  void of_lease_givesAQuarterAndATwelfth(Duration lease, Duration grace, Duration reserve) {
    assertThat(KillPlan.of(lease, Optional.empty())).isEqualTo(new KillPlan(grace, reserve));
  }

  @Test
  void of_graceAskedFor_isTaken() {
    assertThat(KillPlan.of(Duration.ofSeconds(30), Optional.of(Duration.ofSeconds(15)))
            .grace())
        .isEqualTo(Duration.ofSeconds(15));
  }

  @Test
  void of_graceThatLeavesNoTimeToRenew_isRefused() {
    assertThatThrownBy(
            () -> KillPlan.of(Duration.ofSeconds(30), Optional.of(Duration.ofSeconds(16))))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("--grace 16 s is more than half of the lease")
        .extracting(e -> ((CliException) e).code())
        .isEqualTo(Exit.USAGE);
  }

  /** Next to the limit: with digits cut off, the two would read as the same. */
  @Test
  void of_graceJustAboveHalf_isRefusedInFull() {
    assertThatThrownBy(
            () -> KillPlan.of(Duration.ofMillis(30_099), Optional.of(Duration.ofMillis(15_050))))
        .hasMessageContaining(
            "--grace 15.05 s is more than half of the lease or of --at-most (30.099 s)");
  }

  /** A hold that may not last as long as its lease begins with all that it will ever have: that is no short grant. */
  @Test
  void atFirst_holdThatMayNotLastLonger_hasTheWholePlan() {
    LockOptions options =
        LockOptions.builder().holdAtMost(Duration.ofSeconds(3)).build();
    Duration longest = KillPlan.longest(options);
    KillPlan plan = KillPlan.of(longest, Optional.of(Duration.ofMillis(1500)));
    assertThat(plan.atFirst(Duration.ofMillis(2950), longest)).isEqualTo(plan);
    assertThat(plan.atFirst(Duration.ofMillis(900), longest).grace())
        .isEqualTo(Duration.ofMillis(225));
    assertThat(KillPlan.longest(LockOptions.builder().build()))
        .isEqualTo(LockOptions.DEFAULT_LEASE);
  }

  @ParameterizedTest
  @CsvSource({
    "PT29.69S, LEAVE",
    "PT9.500000001S, LEAVE",
    "PT9.5S, TERMINATE",
    "PT2.000000001S, TERMINATE",
    "PT2S, KILL",
    "PT0S, KILL",
  })
  void due_remaining_termAtGraceAndReserveKillAtReserve(Duration remaining, Step expected) {
    assertThat(KillPlan.of(Duration.ofSeconds(30), Optional.empty()).due(remaining))
        .isEqualTo(expected);
  }

  /** A lease that is renewed after a third, and that a second time until two thirds, never ends its command. */
  @ParameterizedTest
  @CsvSource({"PT1S", "PT3S", "PT30S", "PT10M"})
  void due_healthyLease_isLeftAlone(Duration lease) {
    Duration valid = lease.minus(lease.dividedBy(100)).minusMillis(10);
    assertThat(KillPlan.of(lease, Optional.empty())
            .due(valid.minus(lease.multipliedBy(64).dividedBy(100))))
        .isEqualTo(Step.LEAVE);
  }

  @ParameterizedTest
  @CsvSource({"PT29.5S, PT20S", "PT9.5S, PT7.5S", "PT5S, PT3S", "PT2S, PT0S", "PT0S, PT0S"})
  void quiet_remaining_lastsUntilTheNextInstant(Duration remaining, Duration expected) {
    assertThat(KillPlan.of(Duration.ofSeconds(30), Optional.empty()).quiet(remaining))
        .isEqualTo(expected);
  }
}
