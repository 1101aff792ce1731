// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.history.Invariant;
import io.holdfast.testkit.history.Violation;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A store that dies again and again, and a replica that takes its place although it may not have heard of everything, as
 * Redis with Sentinel or as a cluster does it: the production engine keeps what is promised there, and only what is
 * declared as an exception is ever broken.
 */
class ReplicatedTest {
  private static final long SEEDS = 40;

  private static Map<Invariant, String> broken(Failover how, @Nullable Flaw flaw) {
    Map<Invariant, String> broken = new EnumMap<>(Invariant.class);
    for (long seed = 0; seed < SEEDS; seed++) {
      Run run = Run.replicated(seed, how, flaw);
      for (Violation violation : run.violations()) {
        broken.putIfAbsent(violation.invariant(), "seed " + seed + ": " + violation);
      }
      assertThat(run.isBroken()).as(run::report).isEqualTo(!run.violations().isEmpty());
    }
    return broken;
  }

  /** A failover that loses nothing is an outage like any other. */
  @Test
  void nothingLost_breaksNothing() {
    assertThat(broken(Failover.NOTHING_LOST, null)).isEmpty();
  }

  /**
   * One that loses writes lets two in (I1): forgotten grants and renewals. What else is seen comes of releases and places
   * in the queue that are forgotten: somebody who came later goes first (I5), or a lock that was released has its holder
   * again, for its lease (I6, I7, I12). Tokens grow all the same (I3), stale writes are refused (I4), no hold believes
   * in itself for longer than its lease (I2), and every loss is told (I9).
   */
  @Test
  void writesLost_breaksExclusion_butNoTokenGoesBack() {
    assertThat(broken(Failover.WRITES_LOST, null))
        .containsKey(Invariant.I1)
        .doesNotContainKeys(
            Invariant.I2, Invariant.I3, Invariant.I4, Invariant.I8, Invariant.I9, Invariant.I10);
  }

  /** If its clock is far behind, too, tokens go back; what the resource takes does not. */
  @Test
  void writesLost_andTheClockBehind_breaksTokens_butNotTheResource() {
    assertThat(broken(Failover.WRITES_LOST_AND_CLOCK_BEHIND, null))
        .containsKey(Invariant.I1)
        .containsKey(Invariant.I3)
        .doesNotContainKeys(Invariant.I4, Invariant.I8, Invariant.I10);
  }

  /** The judge sees it: a resource that takes whatever comes is written to by one who has lost the lock. */
  @Test
  void writesLost_andNobodyChecksTokens_breaksTheResource() {
    assertThat(broken(Failover.WRITES_LOST, Flaw.UNGUARDED_RESOURCE)).containsKey(Invariant.I4);
  }

  /** And this: a hold that counts its lease from the answer outlives it when a failover delays that. */
  @Test
  void nothingLost_andTheLeaseCountedFromTheAnswer_outlivesIt() {
    assertThat(broken(Failover.NOTHING_LOST, Flaw.ANCHOR_AT_REPLY)).containsKey(Invariant.I2);
  }
}
