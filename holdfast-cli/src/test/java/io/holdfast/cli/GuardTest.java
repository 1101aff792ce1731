// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GuardTest {
  private static final KillPlan PLAN = new KillPlan(Duration.ofSeconds(7), Duration.ofSeconds(2));
  private static final Duration PLENTY = Duration.ofSeconds(29);
  private static final Duration LATE = Duration.ofSeconds(9);
  private static final Duration TOO_LATE = Duration.ofSeconds(2);
  private static final long SECOND = 1_000_000_000L;

  private final Guard guard = new Guard(PLAN, true, new Stops(() -> Stops.Job.UNKNOWN));

  @Test
  void look_healthyLease_doesNothing() {
    assertThat(guard.look(PLENTY, 0)).isEmpty();
    assertThat(guard.exitCode(3, false)).isEqualTo(3);
  }

  @Test
  void look_leaseRunsOut_termsOnceThenKillsOnce() {
    assertThat(guard.look(LATE, 0)).containsExactly(Sig.TERM);
    assertThat(guard.look(LATE, 1)).isEmpty();
    assertThat(guard.look(TOO_LATE, 2)).containsExactly(Sig.KILL);
    assertThat(guard.look(Duration.ZERO, 3)).isEmpty();
    assertThat(guard.exitCode(0, false)).isEqualTo(Exit.LOST);
  }

  /** As a store hands it over: five seconds first, the lease with the first renewal. */
  @Test
  void look_shortLeaseAtFirst_givesItTimeToBeRenewed() {
    Duration first = Duration.ofMillis(4900);
    Guard handed = new Guard(
        PLAN,
        PLAN.atFirst(first, Duration.ofSeconds(30)),
        first,
        true,
        new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(handed.look(first, 0)).isEmpty();
    assertThat(handed.look(Duration.ofSeconds(2), SECOND)).isEmpty();
    assertThat(handed.look(PLENTY, 2 * SECOND)).isEmpty();
    // renewed: the whole plan counts from now on
    assertThat(handed.look(LATE, 3 * SECOND)).containsExactly(Sig.TERM);
  }

  @Test
  void look_shortLeaseNeverRenewed_endsTheCommandInTime() {
    Duration first = Duration.ofMillis(4800);
    Guard handed = new Guard(
        PLAN,
        PLAN.atFirst(first, Duration.ofSeconds(30)),
        first,
        true,
        new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(handed.look(Duration.ofMillis(1601), 0)).isEmpty();
    assertThat(handed.look(Duration.ofMillis(1600), 1)).containsExactly(Sig.TERM);
    assertThat(handed.look(Duration.ofMillis(400), 2)).containsExactly(Sig.KILL);
  }

  @Test
  void atFirst_wholeLease_isThePlan() {
    assertThat(PLAN.atFirst(PLENTY, Duration.ofSeconds(30))).isEqualTo(PLAN);
  }

  @Test
  void look_holdGone_killsAtOnce() {
    assertThat(guard.look(Duration.ZERO, 0)).containsExactly(Sig.KILL);
  }

  @Test
  void mayBegin_untilItWouldBeKilledAtOnce() {
    assertThat(guard.mayBegin(LATE)).isTrue();
    assertThat(guard.mayBegin(TOO_LATE.plusNanos(1))).isTrue();
    assertThat(guard.mayBegin(TOO_LATE)).isFalse();
  }

  @Test
  void withoutUs_untilTheReserveOfTheLease() {
    assertThat(guard.withoutUs(PLENTY, 0)).contains(Duration.ofSeconds(27));
    guard.look(LATE, 0);
    assertThat(guard.withoutUs(LATE, 0)).contains(Duration.ofSeconds(7));
    assertThat(guard.withoutUs(TOO_LATE, 0)).contains(Duration.ZERO);
  }

  /** It was told to end already: no second grace, and none that a renewal makes longer. */
  @Test
  void withoutUs_afterASignal_untilTheEndOfTheGrace() {
    guard.signalled(Sig.INT, PLENTY, 0);
    assertThat(guard.withoutUs(PLENTY, 3 * SECOND)).contains(Duration.ofSeconds(4));
    assertThat(guard.withoutUs(Duration.ofSeconds(5), 3 * SECOND)).contains(Duration.ofSeconds(3));
  }

  /** As a store hands it over: five seconds, of which the first plan keeps a twelfth. */
  @Test
  void withoutUs_shortLeaseAtFirst_untilItsOwnReserve() {
    Duration first = Duration.ofMillis(4800);
    Guard handed = new Guard(
        PLAN,
        PLAN.atFirst(first, Duration.ofSeconds(30)),
        first,
        true,
        new Stops(() -> Stops.Job.UNKNOWN));
    handed.look(first, 0);
    assertThat(handed.withoutUs(first, 0)).contains(Duration.ofMillis(4400));
    handed.look(PLENTY, SECOND);
    assertThat(handed.withoutUs(PLENTY, SECOND)).contains(Duration.ofSeconds(27));
  }

  /** Nothing more has to be told of what is being killed, nor of what may outlive its lock. */
  @Test
  void withoutUs_killedOrOnLostWarn_isEmpty() {
    guard.look(TOO_LATE, 0);
    assertThat(guard.withoutUs(TOO_LATE, 0)).isEmpty();
    Guard warns = new Guard(PLAN, false, new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(warns.withoutUs(Duration.ZERO, 0)).isEmpty();
    warns.signalled(Sig.TERM, PLENTY, 0);
    assertThat(warns.withoutUs(Duration.ZERO, 0)).contains(Duration.ofSeconds(7));
  }

  /** What is not killed for the lock's sake may still not begin without the lock. */
  @Test
  void mayBegin_onLostWarn_untilTheHoldHasEnded() {
    Guard warns = new Guard(PLAN, false, new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(warns.mayBegin(Duration.ofNanos(1))).isTrue();
    assertThat(warns.mayBegin(Duration.ZERO)).isFalse();
  }

  /** What should have sent it may not live any more. */
  @Test
  void look_killHasNoEffect_killsAgainEverySecond() {
    assertThat(guard.look(TOO_LATE, 0)).containsExactly(Sig.KILL);
    assertThat(guard.look(TOO_LATE, SECOND - 1)).isEmpty();
    assertThat(guard.look(TOO_LATE, SECOND)).containsExactly(Sig.KILL);
    assertThat(guard.look(TOO_LATE, 2 * SECOND - 1)).isEmpty();
    assertThat(guard.look(TOO_LATE, 2 * SECOND)).containsExactly(Sig.KILL);
  }

  /** With a short lease, a second is later than the end of the lock. */
  @Test
  void look_killHasNoEffect_killsAgainBeforeTheLeaseEnds() {
    KillPlan brief = new KillPlan(Duration.ofMillis(1500), Duration.ofMillis(500));
    Guard ofShortLease = new Guard(brief, true, new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(ofShortLease.look(Duration.ofMillis(500), 0)).containsExactly(Sig.KILL);
    assertThat(ofShortLease.quiet(Duration.ofMillis(500), 0)).isEqualTo(Duration.ofMillis(250));
    assertThat(ofShortLease.look(Duration.ofMillis(251), SECOND / 4 - 1)).isEmpty();
    assertThat(ofShortLease.look(Duration.ofMillis(250), SECOND / 4)).containsExactly(Sig.KILL);
    KillPlan least = new KillPlan(Duration.ZERO, Duration.ZERO);
    Guard ofNoLease = new Guard(least, true, new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(ofNoLease.look(Duration.ZERO, 0)).containsExactly(Sig.KILL);
    assertThat(ofNoLease.quiet(Duration.ZERO, 0)).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void look_renewedAfterTheTerm_isNotCalledBack() {
    assertThat(guard.look(LATE, 0)).containsExactly(Sig.TERM);
    assertThat(guard.look(PLENTY, 6 * SECOND)).isEmpty();
    assertThat(guard.look(PLENTY, 7 * SECOND)).containsExactly(Sig.KILL);
    assertThat(guard.exitCode(0, false)).isEqualTo(Exit.LOST);
  }

  @ParameterizedTest
  @EnumSource(
      value = Sig.class,
      names = {"INT", "TERM", "HUP"})
  void signalled_toEnd_passesItOnAndKillsAfterTheGrace(Sig signal) {
    assertThat(guard.signalled(signal, PLENTY, 0)).containsExactly(signal);
    assertThat(guard.look(PLENTY, 7 * SECOND - 1)).isEmpty();
    assertThat(guard.signalled(signal, PLENTY, 5 * SECOND)).containsExactly(signal);
    assertThat(guard.look(PLENTY, 7 * SECOND)).containsExactly(Sig.KILL);
    assertThat(guard.look(PLENTY, 8 * SECOND - 1)).isEmpty();
    assertThat(guard.exitCode(143, false)).isEqualTo(143);
  }

  @Test
  void signalled_contAfterTheDeadline_killsBeforeItContinues() {
    assertThat(guard.signalled(Sig.CONT, Duration.ZERO, 0)).containsExactly(Sig.KILL, Sig.CONT);
  }

  @Test
  void signalled_contInTime_continues() {
    assertThat(guard.signalled(Sig.CONT, PLENTY, 0)).containsExactly(Sig.CONT);
  }

  @Test
  void signalled_ctrlZ_stopsTheCommand() {
    assertThat(guard.signalled(Sig.TSTP, PLENTY, 0)).containsExactly(Sig.TSTP);
    assertThat(guard.look(PLENTY, SECOND)).isEmpty();
  }

  @Test
  void signalled_ctrlZWithoutAShellToContinueIt_continues() {
    Guard alone = new Guard(PLAN, true, new Stops(() -> Stops.Job.NONE));
    assertThat(alone.signalled(Sig.TSTP, PLENTY, 0)).containsExactly(Sig.CONT);
  }

  @Test
  void onLostWarn_neverEndsTheCommandForTheLock() {
    Guard warns = new Guard(PLAN, false, new Stops(() -> Stops.Job.UNKNOWN));
    assertThat(warns.look(Duration.ZERO, 0)).isEmpty();
    assertThat(warns.signalled(Sig.CONT, Duration.ZERO, 0)).containsExactly(Sig.CONT);
    assertThat(warns.exitCode(0, true)).isZero();
    assertThat(warns.signalled(Sig.TERM, Duration.ZERO, 0)).containsExactly(Sig.TERM);
    assertThat(warns.look(Duration.ZERO, 7 * SECOND)).containsExactly(Sig.KILL);
    assertThat(warns.exitCode(137, true)).isEqualTo(137);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 137})
  void exitCode_holdLostUnderTheCommand_is76WhateverTheCommandSays(int status) {
    assertThat(guard.exitCode(status, true)).isEqualTo(Exit.LOST);
  }

  @Test
  void quiet_neverLongerThanAnInstantThatIsDue() {
    assertThat(guard.quiet(PLENTY, 0)).isEqualTo(Duration.ofMillis(500));
    assertThat(guard.quiet(LATE.plusMillis(10), 0)).isEqualTo(Duration.ofMillis(10));
    guard.look(LATE, 0);
    assertThat(guard.quiet(TOO_LATE.plusMillis(20), 0)).isEqualTo(Duration.ofMillis(20));
    assertThat(guard.quiet(PLENTY, 7 * SECOND - 30_000_000)).isEqualTo(Duration.ofMillis(30));
    assertThat(guard.quiet(PLENTY, 9 * SECOND)).isEqualTo(Duration.ZERO);
    guard.look(TOO_LATE, 0);
    assertThat(guard.quiet(Duration.ZERO, SECOND / 4)).isEqualTo(Duration.ofMillis(500));
    assertThat(guard.quiet(Duration.ZERO, 9 * SECOND)).isEqualTo(Duration.ZERO);
  }
}
