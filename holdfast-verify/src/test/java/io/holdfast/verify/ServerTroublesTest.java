// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.verify.VerifySettings.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a server's troubles explain, and what they do not. */
class ServerTroublesTest {
  private static final long MILLI = 1_000_000L;

  /** Two believe from 2.0 s on. */
  private static final List<Fact> OVERLAP = List.of(
      fact(What.REQUESTED, 900, "0.0", 0),
      fact(What.ACQUIRED, 1000, "0.0", 10),
      fact(What.REQUESTED, 1900, "1.0", 0),
      fact(What.ACQUIRED, 2000, "1.0", 20),
      fact(What.VALID, 2200, "0.0", 10),
      fact(What.VALID, 2300, "1.0", 20));

  private static Fact fact(What what, long millis, String worker, long token) {
    return new Fact(what, millis * MILLI, worker, "x", 1, token, "");
  }

  private static Fact server(What what, long millis) {
    return Fact.of(what, millis * MILLI, "");
  }

  private static Fact step(long millis, long ahead) {
    return new Fact(What.STEPPED, millis * MILLI, "", "", 0, ahead * MILLI, "");
  }

  private static List<Fact> with(List<Fact> facts, Fact... more) {
    List<Fact> all = new ArrayList<>(facts);
    all.addAll(List.of(more));
    all.sort(Comparator.comparingLong(Fact::at));
    return all;
  }

  private static ServerTroubles troubles(List<Fact> facts, boolean clockMatters) {
    return ServerTroubles.of(facts, Runs.with(clockMatters, Set.of(Fault.CLOCK)));
  }

  private static List<String> broken(List<Fact> facts, boolean clockMatters) {
    return Judgement.of(facts, troubles(facts, clockMatters)).violations().stream()
        .map(each -> each.invariant().name())
        .toList();
  }

  private static List<Violation> doubted(List<Fact> facts, boolean clockMatters) {
    return SecondOpinion.of(facts, troubles(facts, clockMatters));
  }

  @Test
  void leaseThatAStepHasEnded_isCounted() {
    List<Fact> facts = with(OVERLAP, step(1500, 1000));
    assertThat(broken(facts, true)).isEmpty();
    assertThat(doubted(facts, true)).isEmpty();
    assertThat(Judgement.of(facts, troubles(facts, true)).endedByAStep()).isEqualTo(1);
  }

  @Test
  void whatNoStepHasEnded_isBroken() {
    assertNotExplained(OVERLAP, true);
    // after it
    assertNotExplained(with(OVERLAP, step(2400, 1000)), true);
    // back, which lengthens leases
    assertNotExplained(with(OVERLAP, step(1500, -1000)), true);
    // so long before that the lease has been renewed since
    assertNotExplained(with(OVERLAP, step(100, 1000)), true);
    // where no lease is counted on that clock
    assertNotExplained(with(OVERLAP, step(1500, 1000)), false);
  }

  private static void assertNotExplained(List<Fact> facts, boolean clockMatters) {
    assertThat(broken(facts, clockMatters)).containsExactly("I1");
    assertThat(doubted(facts, clockMatters)).hasSize(1);
  }

  /** Granted, ended by a step, and told late: the other one's greater token came between. */
  @Test
  void grantThatIsToldAfterItsEnd_isNoTokenThatGoesBack() {
    List<Fact> facts = List.of(
        fact(What.REQUESTED, 0, "0.0", 0),
        step(2, 1000),
        fact(What.REQUESTED, 2, "1.0", 0),
        fact(What.ACQUIRED, 3, "1.0", 20),
        fact(What.RELEASING, 4, "1.0", 20),
        fact(What.RELEASED, 5, "1.0", 20),
        fact(What.ACQUIRED, 10, "0.0", 10),
        fact(What.VALID, 11, "0.0", 10));
    assertThat(doubted(facts, true)).isEmpty();
    assertThat(broken(facts, true)).isEmpty();
    assertThat(doubted(facts, false)).hasSize(1);
  }

  /** Given back while nobody could be reached, it was gone when the server answered. */
  @Test
  void releaseWhileTheServerWasAway_mayComeTooLate() {
    List<Fact> hold = List.of(
        fact(What.REQUESTED, 900, "0.0", 0),
        fact(What.ACQUIRED, 1000, "0.0", 10),
        fact(What.VALID, 1400, "0.0", 10),
        fact(What.RELEASING, 1500, "0.0", 10),
        fact(What.NOT_MINE, 2100, "0.0", 10),
        server(What.END, 9000));
    assertThat(broken(hold, false)).containsExactly("I6");
    assertThat(broken(with(hold, server(What.CUT, 1450), server(What.HEALED, 1900)), false))
        .isEmpty();
    assertThat(
            broken(with(hold, server(What.RESTARTING, 1450), server(What.RESTARTED, 1900)), false))
        .isEmpty();
    assertThat(broken(with(hold, server(What.CUT, 100), server(What.HEALED, 200)), false))
        .containsExactly("I6");
  }

  /** Who is in a reentrant lock is in the lock. */
  @Test
  void reentrantHold_isAHold() {
    List<Fact> facts = List.of(
        fact(What.REQUESTED, 0, "0.0", 0),
        fact(What.ACQUIRED, 1, "0.0", 10),
        fact(What.REENTERED, 2, "0.0", 10),
        fact(What.LEFT, 3, "0.0", 10),
        fact(What.RELEASING, 4, "0.0", 10),
        fact(What.RELEASED, 5, "0.0", 10));
    assertThat(doubted(facts, false)).isEmpty();
    List<Fact> beside =
        with(facts, fact(What.REQUESTED, 2, "1.0", 0), fact(What.ACQUIRED, 3, "1.0", 20));
    assertThat(doubted(beside, false)).hasSize(1);
  }
}
