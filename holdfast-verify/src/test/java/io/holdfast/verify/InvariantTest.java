// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A tick in the report stands for looks that could have found something. */
class InvariantTest {
  private static long looks(Invariant invariant, Fact... facts) {
    return Invariant.looks(List.of(facts)).getOrDefault(invariant, -1L);
  }

  private static Fact fact(What what, long token) {
    return new Fact(what, 1, "0.0", "x", 1, token, "");
  }

  /** A lock without tokens does not say whose it was when it is released; of one that is late nothing is concluded. */
  @Test
  void releaseThatShowsNothing_isNoLook() {
    assertThat(looks(Invariant.I6, fact(What.RELEASED, 0))).isZero();
    assertThat(looks(Invariant.I6, fact(What.TOO_LATE, 7))).isZero();
    assertThat(looks(Invariant.I6, fact(What.RELEASED, 7), fact(What.NOT_MINE, 8)))
        .isEqualTo(2);
  }

  /** Whether a free lock can be had is looked at without faults alone, and only by one that has got it. */
  @Test
  void grantWithoutFaults_isALook() {
    Fact quiet = Fact.of(What.QUIET, 1, "");
    assertThat(looks(Invariant.I5, fact(What.ACQUIRED, 7), quiet)).isZero();
    assertThat(looks(Invariant.I5, quiet, fact(What.REQUESTED, 0))).isZero();
    assertThat(looks(Invariant.I5, quiet, fact(What.ACQUIRED, 7))).isOne();
  }
}
