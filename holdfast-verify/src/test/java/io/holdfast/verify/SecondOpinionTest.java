// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a record makes of a lock, whoever judges it. */
class SecondOpinionTest {
  private static final int MANY = 20_000;

  private static Fact fact(What what, long at, String worker, long hold, long token) {
    return new Fact(what, at, worker, "x", hold, token, "");
  }

  private static List<String> broken(List<Fact> facts) {
    return SecondOpinion.of(facts, ServerTroubles.none()).stream()
        .map(each -> each.invariant().name())
        .toList();
  }

  @Test
  void validBesideAnother_isNoLock() {
    assertThat(broken(List.of(
            fact(What.REQUESTED, 0, "0.0", 1, 0),
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.REQUESTED, 2, "1.0", 1, 0),
            fact(What.ACQUIRED, 3, "1.0", 1, 20),
            fact(What.VALID, 4, "0.0", 1, 10))))
        .containsExactly("I1");
  }

  /** Stopped, it does not know that its lease has ended; what it says later is that. */
  @Test
  void lostWhileItWasStopped_isALock() {
    assertThat(broken(List.of(
            fact(What.REQUESTED, 0, "0.0", 1, 0),
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.VALID, 1, "0.0", 1, 10),
            fact(What.REQUESTED, 2, "1.0", 1, 0),
            fact(What.ACQUIRED, 3, "1.0", 1, 20),
            fact(What.INVALID, 4, "0.0", 1, 10),
            fact(What.RELEASING, 5, "0.0", 1, 10),
            fact(What.NOT_MINE, 6, "0.0", 1, 10),
            fact(What.RELEASING, 7, "1.0", 1, 20),
            fact(What.RELEASED, 8, "1.0", 1, 20))))
        .isEmpty();
  }

  /** Stopped just before it says that it came in again: it had lost the lock by then. */
  @Test
  void reentryThatIsToldAfterTheLoss_isALock() {
    assertThat(broken(List.of(
            fact(What.REQUESTED, 0, "0.0", 1, 0),
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.REQUESTED, 2, "1.0", 1, 0),
            fact(What.ACQUIRED, 3, "1.0", 1, 20),
            fact(What.REENTERED, 5, "0.0", 1, 10),
            fact(What.LEFT, 6, "0.0", 1, 10),
            fact(What.RELEASING, 7, "0.0", 1, 10),
            fact(What.LOST, 8, "0.0", 1, 10))))
        .isEmpty();
  }

  @Test
  void tokensThatGoBack() {
    assertThat(broken(List.of(
            fact(What.REQUESTED, 0, "0.0", 1, 0),
            fact(What.ACQUIRED, 1, "0.0", 1, 20),
            fact(What.RELEASING, 2, "0.0", 1, 20),
            fact(What.RELEASED, 3, "0.0", 1, 20),
            fact(What.REQUESTED, 4, "1.0", 1, 0),
            fact(What.ACQUIRED, 5, "1.0", 1, 10))))
        .containsExactly("I1");
  }

  /** Who failed may have had it, or not. */
  @Test
  void failedRequest_saysNothing() {
    assertThat(broken(List.of(
            fact(What.REQUESTED, 0, "0.0", 1, 0),
            fact(What.FAILED, 1, "0.0", 1, 0),
            fact(What.REQUESTED, 2, "1.0", 1, 0),
            fact(What.ACQUIRED, 3, "1.0", 1, 20))))
        .isEmpty();
  }

  /** As many as an hour has, each lost now and then: the search must not grow with them. */
  @Test
  void longRecord_isJudged() {
    List<Fact> facts = new ArrayList<>();
    for (int i = 1; i <= MANY; i++) {
      long at = i * 10L;
      String worker = i % 8 + ".0";
      facts.add(fact(What.REQUESTED, at - 80, worker, i, 0));
      facts.add(fact(What.ACQUIRED, at, worker, i, i));
      if (i % 5 != 0) {
        facts.add(fact(What.RELEASING, at + 1, worker, i, i));
        facts.add(fact(What.RELEASED, at + 9, worker, i, i));
      }
    }
    assertThat(broken(facts)).isEmpty();
    facts.add(fact(What.REQUESTED, MANY * 20L, "2.0", MANY + 1, 0));
    facts.add(fact(What.ACQUIRED, MANY * 20L + 1, "2.0", MANY + 1, 1));
    assertThat(broken(facts)).containsExactly("I1");
  }
}
