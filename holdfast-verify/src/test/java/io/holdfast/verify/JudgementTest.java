// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Each thing that the judge is to catch, and the like that it must let pass. */
class JudgementTest {
  private static Fact fact(What what, long at, String worker, long hold, long token) {
    return new Fact(what, at, worker, "x", hold, token, "");
  }

  private static List<String> broken(Fact... facts) {
    return Judgement.of(List.of(facts)).stream()
        .map(each -> each.invariant().name())
        .toList();
  }

  @Test
  void twoThatBelieve_breakExclusion() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.ACQUIRED, 2, "1.0", 1, 20),
            fact(What.VALID, 3, "0.0", 1, 10)))
        .containsExactly("I1");
    // without tokens the times decide
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 0),
            fact(What.ACQUIRED, 2, "1.0", 1, 0),
            fact(What.VALID, 3, "0.0", 1, 0)))
        .containsExactly("I1");
  }

  @Test
  void oneThatBelievedBefore_doesNot() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.VALID, 2, "0.0", 1, 10),
            fact(What.ACQUIRED, 3, "1.0", 1, 20),
            fact(What.VALID, 4, "1.0", 1, 20),
            fact(What.INVALID, 5, "0.0", 1, 10)))
        .isEmpty();
  }

  /** Whose grant is the later one is the store's matter: who says it first is nothing. */
  @Test
  void orderIsThatOfTokens() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "1.0", 1, 20),
            fact(What.ACQUIRED, 2, "0.0", 1, 10),
            fact(What.VALID, 3, "1.0", 1, 20)))
        .isEmpty();
  }

  @Test
  void tokensThatGoBack() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 20),
            fact(What.REQUESTED, 2, "1.0", 1, 0),
            fact(What.ACQUIRED, 3, "1.0", 1, 10)))
        .containsExactly("I3");
    assertThat(broken(
            fact(What.REQUESTED, 1, "1.0", 1, 0),
            fact(What.ACQUIRED, 2, "0.0", 1, 20),
            fact(What.ACQUIRED, 3, "1.0", 1, 20)))
        .containsExactly("I3");
    // asked for before the other one had his
    assertThat(broken(
            fact(What.REQUESTED, 1, "1.0", 1, 0),
            fact(What.ACQUIRED, 2, "0.0", 1, 20),
            fact(What.ACQUIRED, 3, "1.0", 1, 10)))
        .isEmpty();
  }

  @Test
  void writesThatOverwrite() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.ACQUIRED, 2, "1.0", 1, 20),
            fact(What.ACCEPTED, 3, "1.0", 1, 20),
            fact(What.ACCEPTED, 4, "0.0", 1, 10)))
        .containsExactly("I4");
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.ACQUIRED, 2, "1.0", 1, 20),
            fact(What.ACCEPTED, 3, "1.0", 1, 20),
            fact(What.REFUSED, 4, "0.0", 1, 10)))
        .isEmpty();
  }

  @Test
  void holdThatOthersEnded() {
    Fact end = Fact.of(What.END, 9, "");
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.RELEASING, 2, "0.0", 1, 10),
            fact(What.NOT_MINE, 3, "0.0", 1, 10),
            end))
        .containsExactly("I6");
    // told on another thread, and so a little later
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.RELEASING, 2, "0.0", 1, 10),
            fact(What.NOT_MINE, 3, "0.0", 1, 10),
            fact(What.LOST, 4, "0.0", 1, 10),
            end))
        .isEmpty();
    assertThat(broken(
            fact(What.REQUESTED, 1, "0.0", 1, 0),
            Fact.of(What.PAUSED, 2, "0.0", ""),
            Fact.of(What.RESUMED, 3, "0.0", ""),
            fact(What.ACQUIRED, 4, "0.0", 1, 10),
            fact(What.NOT_MINE, 5, "0.0", 1, 10),
            end))
        .isEmpty();
  }

  /** A release that stands still is no renewal: the lease may end under it, and nobody else has ended it. */
  @Test
  void releaseThatOutlastsTheLease_isTooLate() {
    assertThat(Worker.ended(true, 9, 3)).isEqualTo(What.RELEASED);
    assertThat(Worker.ended(false, 2, 3)).isEqualTo(What.NOT_MINE);
    assertThat(Worker.ended(false, 3, 3)).isEqualTo(What.TOO_LATE);
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.RELEASING, 2, "0.0", 1, 10),
            fact(What.TOO_LATE, 5, "0.0", 1, 10),
            Fact.of(What.END, 9, "")))
        .isEmpty();
  }

  @Test
  void lossThatIsNotTold() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.INVALID, 2, "0.0", 1, 10),
            Fact.of(What.END, 9, "")))
        .containsExactly("I9");
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.INVALID, 2, "0.0", 1, 10),
            Fact.of(What.KILLED, 3, "0.0", ""),
            Fact.of(What.END, 9, "")))
        .isEmpty();
  }

  @Test
  void lossesThatAreNone() {
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.INVALID, 2, "0.0", 1, 10),
            fact(What.VALID, 3, "0.0", 1, 10)))
        .containsExactly("I9");
    assertThat(broken(
            fact(What.ACQUIRED, 1, "0.0", 1, 10),
            fact(What.LOST, 2, "0.0", 1, 10),
            fact(What.LOST, 3, "0.0", 1, 10)))
        .containsExactly("I9");
  }

  @Test
  void whatIsLeft() {
    assertThat(broken(fact(What.LEFT_BEHIND, 1, "0.0", 0, 0))).containsExactly("I5");
    assertThat(broken(fact(What.AWAY, 1, "0.0", 0, 0))).isEmpty();
    assertThat(broken(Fact.of(What.LEFT_BEHIND, 1, "lock x"))).containsExactly("I7");
  }

  @Test
  void whatWorkersSay() {
    assertThat(broken(
            fact(What.RENEWED_WRONGLY, 1, "0.0", 1, 0),
            fact(What.COUNTED_WRONGLY, 2, "0.0", 1, 0),
            Fact.of(What.DIED, 3, "0.0", "")))
        .containsExactly("I8", "I10", "I12");
  }
}
