// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.redis.RedlockTally.Decision;
import io.holdfast.redis.RedlockTally.Other;
import io.holdfast.redis.RedlockVote.Kind;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the nodes' answers mean. */
class RedlockTallyTest {
  private static final RedlockVote YES = RedlockVote.accepted(false);
  private static final RedlockVote STALE = RedlockVote.stale(7);
  private static final RedlockVote FAR = RedlockVote.of(Kind.FAR);
  private static final RedlockVote LATE = RedlockVote.of(Kind.LATE);
  private static final RedlockVote ABSTAINS = RedlockVote.abstains(5_000_000);
  private static final RedlockVote DOWN = RedlockVote.failed(new IllegalStateException(), true);
  private static final RedlockVote LOST = RedlockVote.failed(new IllegalStateException(), false);
  private static final RedlockVote A = held("a", 10, 100);
  private static final RedlockVote B = held("b", 11, 200);
  private static final @Nullable RedlockVote SILENT = null;

  private static RedlockVote held(String claim, long number, long left) {
    return RedlockVote.held(claim, number, left, Optional.empty());
  }

  private static RedlockTally tally(@Nullable RedlockVote... votes) {
    return new RedlockTally(Arrays.asList(votes));
  }

  private static Decision first(@Nullable RedlockVote... votes) {
    return tally(votes).decide(false, null);
  }

  private static Decision last(@Nullable RedlockVote... votes) {
    return tally(votes).decide(true, null);
  }

  /** A majority that accepted is enough, and one vote less is not, whatever the others say. */
  @Test
  void majority_isGranted() {
    assertThat(first(YES, YES, SILENT)).isEqualTo(Decision.GRANTED);
    assertThat(first(YES, A, YES)).isEqualTo(Decision.GRANTED);
    assertThat(first(SILENT, YES, LOST, YES, YES)).isEqualTo(Decision.GRANTED);
    assertThat(first(YES, SILENT, SILENT)).isEqualTo(Decision.OPEN);
    assertThat(last(YES, YES, SILENT, SILENT, SILENT)).isEqualTo(Decision.TOO_FEW);
    assertThat(last(YES, YES, LOST, DOWN, ABSTAINS)).isEqualTo(Decision.TOO_FEW);
  }

  /** Busy at once is what one other claim has by a majority with one number. */
  @Test
  void majorityOfAnother_isBusy() {
    assertThat(first(A, A, SILENT)).isEqualTo(Decision.BUSY);
    assertThat(first(A, held("a", 12, 1), SILENT)).isEqualTo(Decision.OPEN);
    assertThat(first(A, B, SILENT)).isEqualTo(Decision.OPEN);
    assertThat(first(held("", 9, 1), held("", 9, 1), SILENT)).isEqualTo(Decision.BUSY);
  }

  /** Votes that are divided are let go, and who may have a majority unseen is believed at the second time. */
  @Test
  void dividedVotes_areSplit_orBusyTheSecondTime() {
    assertThat(last(YES, A, B)).isEqualTo(Decision.SPLIT);
    assertThat(last(YES, YES, A, A, B)).isEqualTo(Decision.SPLIT);
    assertThat(last(YES, A, SILENT)).isEqualTo(Decision.SPLIT);
    assertThat(tally(YES, A, SILENT).decide(true, new Other("a", 10))).isEqualTo(Decision.BUSY);
    assertThat(tally(YES, A, DOWN).decide(true, new Other("a", 10))).isEqualTo(Decision.BUSY);
    assertThat(tally(YES, A, ABSTAINS).decide(true, new Other("a", 10))).isEqualTo(Decision.BUSY);
    assertThat(tally(YES, A, SILENT).decide(true, new Other("a", 9))).isEqualTo(Decision.SPLIT);
    assertThat(tally(YES, A, B).decide(true, new Other("a", 10))).isEqualTo(Decision.SPLIT);
  }

  /** Numbers alone are proposed anew at once. */
  @Test
  void refusedNumbers_areProposedAgain() {
    assertThat(last(YES, STALE, STALE)).isEqualTo(Decision.AGAIN);
    assertThat(last(FAR, FAR, DOWN)).isEqualTo(Decision.AGAIN);
    assertThat(first(STALE, STALE, SILENT)).isEqualTo(Decision.OPEN);
  }

  /** Too late is only what was applied nowhere. */
  @Test
  void late_isAppliedNowhere() {
    assertThat(last(LATE, LATE, DOWN)).isEqualTo(Decision.LATE);
    assertThat(last(LATE, LATE, YES)).isEqualTo(Decision.TOO_FEW);
    assertThat(last(LATE, LATE, LOST)).isEqualTo(Decision.TOO_FEW);
    assertThat(last(LATE, LATE, SILENT)).isEqualTo(Decision.TOO_FEW);
  }

  /** Without a majority that can vote, nothing is granted and nobody is called busy. */
  @Test
  void tooFewVoters_areToldSo() {
    assertThat(last(ABSTAINS, ABSTAINS, YES)).isEqualTo(Decision.TOO_FEW);
    assertThat(last(DOWN, DOWN, A)).isEqualTo(Decision.TOO_FEW);
    assertThat(tally(DOWN, DOWN, A).decide(true, new Other("a", 10))).isEqualTo(Decision.TOO_FEW);
    assertThat(tally(DOWN, ABSTAINS, STALE).isNowhere()).isTrue();
    assertThat(tally(DOWN, YES, STALE).isNowhere()).isFalse();
    assertThat(tally(DOWN, LOST, STALE).isNowhere()).isFalse();
    assertThat(tally(DOWN, SILENT, STALE).isNowhere()).isFalse();
    assertThat(tally(DOWN, ABSTAINS, A).describe())
        .isEqualTo(
            "of 3 nodes, 0 accepted, 1 have another claim, 1 did not answer or failed, 1 may have forgotten locks"
                + " and do not vote; a majority can vote in 6 s");
  }

  /** Nodes vote again one after another, and the one that completes a majority is what is waited for. */
  @Test
  void majorityInMicros_isWhenTheLastNeededNodeVotes() {
    RedlockVote sooner = RedlockVote.abstains(1_000_000);
    RedlockVote later = RedlockVote.abstains(9_000_000);
    assertThat(tally(later, ABSTAINS, sooner).majorityInMicros()).isEqualTo(5_000_000);
    assertThat(tally(later, STALE, sooner).majorityInMicros()).isEqualTo(1_000_000);
    assertThat(tally(later, DOWN, sooner).majorityInMicros()).isEqualTo(9_000_000);
    assertThat(tally(later, YES, sooner, A, SILENT).majorityInMicros()).isEqualTo(1_000_000);
    assertThat(tally(later, LATE, sooner).majorityInMicros())
        .as("of LATE nothing is known")
        .isEqualTo(9_000_000);
    assertThat(tally(ABSTAINS, DOWN, SILENT).majorityInMicros())
        .as("all of them are too few")
        .isZero();
    assertThat(tally(ABSTAINS, YES, STALE).majorityInMicros())
        .as("a majority votes already")
        .isZero();
    assertThat(tally(ABSTAINS, FAR, DOWN).majorityInMicros())
        .as("FAR may stay far")
        .isZero();
    assertThat(tally(DOWN, SILENT, LOST).majorityInMicros()).isZero();
  }

  /** A majority is free when enough of the leases that are in the way have ended. */
  @Test
  void freeIn_waitsForAMajority() {
    assertThat(tally(A, A, B).freeInMicros()).isEqualTo(100);
    assertThat(tally(A, B, B).freeInMicros()).isEqualTo(200);
    assertThat(tally(A, YES, YES).freeInMicros()).isZero();
    assertThat(tally(A, B, B, B, YES).freeInMicros()).isEqualTo(200);
  }

  /** A number is the nodes' time, above what was proposed and seen; what lies too far ahead is not followed. */
  @Test
  void number_comesFromTheNodes() {
    List<@Nullable RedlockVote> none = List.of();
    assertThat(RedlockNumbers.next(new long[] {30, 10, 20}, 0, none, 100)).isEqualTo(20);
    assertThat(RedlockNumbers.next(new long[] {10, 20}, 0, none, 100)).isEqualTo(10);
    assertThat(RedlockNumbers.next(new long[] {20}, 50, none, 100)).isEqualTo(51);
    assertThat(RedlockNumbers.next(
            new long[] {20}, 0, Arrays.asList(SILENT, YES, RedlockVote.stale(90)), 100))
        .isEqualTo(91);
    assertThat(RedlockNumbers.next(
            new long[] {20}, 0, Arrays.asList(SILENT, YES, RedlockVote.stale(120)), 100))
        .isEqualTo(20);
  }

  /** What a majority has, or has not, is certain; else it is unknown. */
  @Test
  void replies_needAMajority() {
    RedlockReply yes = RedlockReply.of(true, false);
    RedlockReply no = RedlockReply.of(false, true);
    RedlockReply unknown = RedlockReply.unknown(new IllegalStateException());
    assertThat(RedlockReply.majority(Arrays.asList(yes, yes, null), false)).isEqualTo(Has.YES);
    assertThat(RedlockReply.majority(Arrays.asList(no, null, no), false)).isEqualTo(Has.NO);
    assertThat(RedlockReply.majority(Arrays.asList(yes, no, null), false)).isNull();
    assertThat(RedlockReply.majority(Arrays.asList(yes, no, null), true)).isEqualTo(Has.UNKNOWN);
    assertThat(RedlockReply.majority(Arrays.asList(yes, no, unknown), false))
        .isEqualTo(Has.UNKNOWN);
    assertThat(RedlockReply.majority(Arrays.asList(yes, yes, no, no, unknown), true))
        .isEqualTo(Has.UNKNOWN);
    assertThat(RedlockReply.majority(Arrays.asList(yes, no, no, no, null), false))
        .isEqualTo(Has.NO);
    assertThat(RedlockReply.othersWait(Arrays.asList(yes, null))).isFalse();
    assertThat(RedlockReply.othersWait(Arrays.asList(yes, no))).isTrue();
  }
}
