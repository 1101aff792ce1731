// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What threads do with a lock, and what is seen of one that does not exclude. */
class ContentionTest {
  private static final Duration SHORT = Duration.ofMillis(50);

  @Test
  void threads_ofARealLock_areNeverTwoAtOnce() throws Exception {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      Contention contention = new Contention(
          Collections.nCopies(4, Contention.of(holdfast.lock("one"), Duration.ofSeconds(20))));
      assertThat(contention.perSecond(SHORT)).isPositive();
      assertThat(contention.violations()).isZero();
      assertThat(contention.cycles()).isGreaterThanOrEqualTo(4);
      assertThat(contention.cyclesOfEach()).hasSize(4);
      assertThat(contention.leastToMost()).isBetween(0.0, 1.0);
      assertThat(contention.waits().maxMicros()).isPositive();
    }
  }

  /** Updates of the counter are lost where nobody is kept out: sooner or later, so it is tried until one is. */
  @Test
  void aLockThatKeepsNobodyOut_isSeen() throws Exception {
    Contention contention = new Contention(Collections.nCopies(4, Runnable::run));
    for (int i = 0; i < 1000 && contention.violations() == 0; i++) {
      contention.perSecond(SHORT);
    }
    assertThat(contention.violations()).isPositive();
  }

  @Test
  void whatAThreadThrows_isThrownAsItIs() {
    Contention contention = new Contention(List.of(inside -> {
      throw new IOException("the store is gone");
    }));
    assertThatThrownBy(() -> contention.perSecond(SHORT))
        .isInstanceOf(IOException.class)
        .hasMessage("the store is gone");
  }
}
