// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedlockTally.Decision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Two wrong rules whose violations are too rare for random faults, step by step. */
class RedlockCounterexamplesTest {
  private static final long SECOND = 1_000_000;
  private static final long START = 1_000 * SECOND;
  private static final String NAME = "x";

  private static String kind(
      RedlockModelNode node, long now, String claim, long number, long lease) {
    return node.attempt(
            now, NAME, new RedlockModelNode.Ask(claim, number, false, Long.MAX_VALUE, lease, "", 0))
        .get(0);
  }

  private static RedlockModelNode node(RedlockFlaw flaw, String run) {
    RedlockRule rule = new RedlockRule(5, Duration.ofSeconds(1), Duration.ofSeconds(2));
    RedlockModelNode node = new RedlockModelNode(rule, flaw, run);
    node.mayVote();
    return node;
  }

  /**
   * (a) Two nodes with fast clocks accept a number from ahead; one of them restarts empty and waits for a lease; with a
   * slow one it accepts a smaller number. With the right rule it does not vote yet, and afterwards refuses that number.
   */
  @Test
  void waitForALease_isTooShort() {
    assertThat(votesAfterALease(RedlockFlaw.WAITS_FOR_A_LEASE)).isEqualTo(List.of("A", "A"));
    assertThat(votesAfterALease(RedlockFlaw.NONE)).isEqualTo(List.of("N", "A"));
  }

  private static List<String> votesAfterALease(RedlockFlaw flaw) {
    long ahead = 1_900_000;
    RedlockModelNode fast = node(flaw, "fast");
    RedlockModelNode slow = node(flaw, "slow");
    long first = START + ahead;
    assertThat(kind(fast, START + ahead, "a-1", first, SECOND)).isEqualTo("A");
    fast.end(START + ahead, NAME, "a-1", first, 0);
    fast.restart("another run");
    assertThat(kind(fast, START + ahead, "b-1", first + 1, SECOND)).isEqualTo("N");
    long later = START + 1_100_000;
    long smaller = START + 1_200_000;
    assertThat(smaller).isLessThan(first);
    List<String> votes = List.of(
        kind(fast, later + ahead, "b-1", smaller, SECOND),
        kind(slow, later, "b-1", smaller, SECOND));
    if (flaw == RedlockFlaw.NONE) {
      long end = START + 4_100_000;
      assertThat(kind(fast, end + ahead, "b-1", first, SECOND)).isEqualTo("F");
    }
    return votes;
  }

  /**
   * (d) Two nodes accept 100, a third has seen 150 and accepts 151. Added up, that would be a grant of 151; after it,
   * 120 finds a majority. With the right rule 151 is proposed to all, and 120 is refused.
   */
  @Test
  void differentNumbers_areNotAddedUp() {
    List<RedlockModelNode> nodes = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      nodes.add(node(RedlockFlaw.NONE, "run " + i));
    }
    nodes.get(2).end(START, NAME, "z-1", START + 150, 0);
    List<String> first = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      first.add(kind(nodes.get(i), START, "a-1", START + 100, SECOND));
    }
    assertThat(first).isEqualTo(List.of("A", "A", "S"));
    List<@Nullable RedlockVote> votes = Arrays.asList(
        RedlockVote.accepted(false),
        RedlockVote.accepted(false),
        RedlockVote.stale(START + 150),
        null,
        null);
    assertThat(new RedlockTally(votes).decide(true, null)).isNotEqualTo(Decision.GRANTED);
    long next = RedlockNumbers.next(new long[] {START}, START + 100, votes, 2 * SECOND);
    assertThat(next).isEqualTo(START + 151);
    // the wrong rule asks the third node alone, and has three votes
    assertThat(kind(nodes.get(2), START, "a-1", next, SECOND)).isEqualTo("A");
    long over = START + 2 * SECOND;
    assertThat(votes(nodes, over, "b-1")).isEqualTo(List.of("A", "A", "A"));
    // the right one asks all
    for (int i = 0; i < 3; i++) {
      nodes.get(i).end(over, NAME, "b-1", START + 120, 0);
      assertThat(kind(nodes.get(i), over, "a-2", over + 151, SECOND)).isEqualTo("A");
      nodes.get(i).end(over, NAME, "a-2", over + 151, 0);
    }
    assertThat(kind(nodes.get(0), over, "b-2", over + 120, SECOND)).isEqualTo("S");
    assertThat(kind(nodes.get(1), over, "b-2", over + 120, SECOND)).isEqualTo("S");
  }

  /** The first, second and fourth node are asked for 120. */
  private static List<String> votes(List<RedlockModelNode> nodes, long now, String claim) {
    return List.of(
        kind(nodes.get(0), now, claim, START + 120, SECOND),
        kind(nodes.get(1), now, claim, START + 120, SECOND),
        kind(nodes.get(3), now, claim, START + 120, SECOND));
  }
}
