// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which process held the lock when: told from the grant of the one that should not have it any more. */
class StoryTest {
  private static final long MILLI = 1_000_000;

  private static Fact fact(What what, long millis, String worker, long hold, long token) {
    return new Fact(what, millis * MILLI, worker, "x", hold, token, "");
  }

  private static Fact ofAProcess(What what, long millis, String worker) {
    return Fact.of(what, millis * MILLI, worker, "");
  }

  /** The first violation of a record, told. */
  private static List<String> told(List<Fact> facts) {
    return Story.of(Judgement.of(facts).get(0), facts, 0);
  }

  @Test
  void holderThatIsLate_isTold() {
    assertThat(told(List.of(
            fact(What.ACQUIRED, 1, "3.0", 1, 5),
            fact(What.RELEASING, 2, "3.0", 1, 5),
            fact(What.REQUESTED, 3, "0.0", 1, 0),
            fact(What.ACQUIRED, 10, "0.0", 1, 10),
            ofAProcess(What.PAUSED, 20, "0.0"),
            // of another worker, and of another lock
            ofAProcess(What.PAUSED, 21, "7.0"),
            new Fact(What.ACQUIRED, 22 * MILLI, "0.0", "other", 9, 3, ""),
            fact(What.ACQUIRED, 1500, "1.0", 1, 20),
            fact(What.ACCEPTED, 1600, "1.0", 1, 20),
            ofAProcess(What.RESUMED, 2000, "0.0"),
            fact(What.VALID, 2001, "0.0", 1, 10))))
        .containsExactly(
            "0.010 s  worker 0.0 gets the lock, token 10",
            "0.020 s  worker 0.0 is stopped",
            "1.500 s  worker 1.0 gets the lock, token 20",
            "1.600 s  the resource takes a write of worker 1.0",
            "2.000 s  worker 0.0 goes on",
            "2.001 s  worker 0.0 looks, and still believes that it has the lock  <- two holders at once (I1)");
  }

  @Test
  void lockThatCannotBeHad_isToldFromItsLastGrant() {
    assertThat(told(List.of(
            fact(What.ACQUIRED, 1, "0.0", 1, 0),
            fact(What.RELEASING, 2, "0.0", 1, 0),
            fact(What.ACQUIRED, 3, "1.0", 1, 0),
            ofAProcess(What.KILLED, 4, "1.0"),
            Fact.of(What.QUIET, 5 * MILLI, ""),
            fact(What.LEFT_BEHIND, 9000, "2.0", 0, 0))))
        .containsExactly(
            "0.003 s  worker 1.0 gets the lock",
            "0.004 s  worker 1.0 is killed",
            "0.005 s  no more faults from here on",
            "9.000 s  worker 2.0 could not get the lock, though there were no faults any more"
                + "  <- a free lock that no process could get (I5)");
  }

  /** What the late one did is kept, and the last of what the others did. */
  @Test
  void manyHoldersMeanwhile_areTwelveLines() {
    List<Fact> facts = new ArrayList<>(
        List.of(fact(What.ACQUIRED, 0, "0.0", 1, 1), ofAProcess(What.PAUSED, 1, "0.0")));
    for (int i = 2; i < 100; i++) {
      facts.add(fact(What.ACQUIRED, i, "1.0", i, i));
      facts.add(fact(What.RELEASING, i, "1.0", i, i));
    }
    facts.add(ofAProcess(What.RESUMED, 100, "0.0"));
    facts.add(fact(What.VALID, 101, "0.0", 1, 1));
    List<String> lines = told(facts);
    assertThat(lines)
        .hasSizeLessThanOrEqualTo(12)
        .startsWith(
            "0.000 s  worker 0.0 gets the lock, token 1",
            "0.001 s  worker 0.0 is stopped",
            "0.002 s  worker 1.0 gets the lock, token 2",
            "         ... (191 more)")
        .endsWith(
            "0.098 s  worker 1.0 releases the lock",
            "0.099 s  worker 1.0 gets the lock, token 99",
            "0.099 s  worker 1.0 releases the lock",
            "0.100 s  worker 0.0 goes on",
            "0.101 s  worker 0.0 looks, and still believes that it has the lock  <- two holders at once (I1)");
  }

  /** However much was done to the server meanwhile, what the violator did and which grant came in between is told. */
  @Test
  void theOtherGrant_isAmongTheLines() {
    List<Fact> facts = new ArrayList<>(List.of(
        fact(What.ACQUIRED, 0, "0.0", 1, 1),
        ofAProcess(What.PAUSED, 1, "0.0"),
        ofAProcess(What.RESUMED, 2, "0.0")));
    for (int i = 3; i < 20; i++) {
      facts.add(Fact.of(What.CUT, i * MILLI, ""));
    }
    facts.add(fact(What.ACQUIRED, 20, "1.0", 1, 2));
    for (int i = 21; i < 40; i++) {
      facts.add(Fact.of(What.HEALED, i * MILLI, ""));
    }
    facts.add(fact(What.VALID, 101, "0.0", 1, 1));
    assertThat(told(facts))
        .hasSize(12)
        .contains(
            "0.020 s  worker 1.0 gets the lock, token 2",
            "         ... (17 more)",
            "         ... (14 more)");
  }

  @Test
  void withoutALock_thereIsNone() {
    List<Fact> facts = List.of(ofAProcess(What.DIED, 1, "0.0"));
    assertThat(told(facts)).isEmpty();
  }

  /** Whatever shows a violation ends its story with its words. */
  @ParameterizedTest
  @EnumSource(Invariant.class)
  void end_namesWhatIsBroken(Invariant invariant) {
    Arrays.stream(What.values()).forEach(what -> {
      Fact end = fact(what, 5, "0.0", 1, 1);
      List<Fact> facts = List.of(fact(What.ACQUIRED, 1, "0.0", 1, 1), end);
      assertThat(Story.of(new Violation(invariant, "because", end), facts, 0))
          .last()
          .asString()
          .startsWith("0.005 s  ")
          .endsWith("  <- " + invariant.breach())
          .hasSizeGreaterThan(invariant.breach().length() + 20);
    });
  }
}
