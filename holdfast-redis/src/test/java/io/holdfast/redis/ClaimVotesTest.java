// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Moment;
import io.holdfast.redis.ClaimVotes.AskVote;
import io.holdfast.redis.ClaimVotes.Busy;
import io.holdfast.redis.ClaimVotes.Failed;
import io.holdfast.redis.ClaimVotes.Granted;
import io.holdfast.redis.ClaimVotes.Late;
import io.holdfast.redis.ClaimVotes.Order;
import io.holdfast.redis.ClaimVotes.TellEnd;
import io.holdfast.redis.ClaimVotes.Wake;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.redis.RedlockVote.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Three nodes' votes for one claim, event by event. What random faults find is in {@link RedlockSimulationTest}. */
class ClaimVotesTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final long REACH = 10_000_000;
  private static final long CLOCK = 1_000_000_000_000L;
  private static final Duration TRY = Duration.ofSeconds(2);

  private static final RedlockVote ACCEPTED = RedlockVote.accepted(false);
  private static final RedlockVote LATE = RedlockVote.of(Kind.LATE);
  private static final RedlockVote STALE = RedlockVote.stale(CLOCK + 5);
  private static final RedlockVote UNKNOWN =
      RedlockVote.failed(new IllegalStateException("cut"), false);
  private static final RedlockVote NOT_SENT =
      RedlockVote.failed(new IllegalStateException("no connection"), true);

  private final ClaimVotes votes = new ClaimVotes(3, LEASE, REACH, () -> 0.5);
  private final List<AskVote> asked = new ArrayList<>();
  private final List<TellEnd> told = new ArrayList<>();
  private final List<Wake> wakes = new ArrayList<>();
  private final List<Order> outcomes = new ArrayList<>();
  private Moment now = new Moment(0, 0);

  private void note(List<Order> orders) {
    for (Order order : orders) {
      if (order instanceof AskVote ask) {
        asked.add(ask);
      } else if (order instanceof TellEnd end) {
        told.add(end);
      } else if (order instanceof Wake wake) {
        wakes.add(wake);
      } else {
        outcomes.add(order);
      }
    }
  }

  private void pass(Duration time) {
    now = new Moment(now.nanos() + time.toNanos(), 0);
  }

  private void ask() {
    note(votes.ask(now, now.nanos() + TRY.toNanos(), new long[] {CLOCK}));
  }

  /** The answer to one of the requests, counted from the first. */
  private void vote(int request, RedlockVote vote) {
    note(votes.voted(asked.get(request), vote, false, now.nanos()));
  }

  private void end(int request, Has has) {
    note(votes.ended(told.get(request), has));
  }

  /** All that was ordered is done, also what is not needed any more. */
  private void wake() {
    List<Wake> all = List.copyOf(wakes);
    wakes.clear();
    all.forEach(wake -> note(votes.woken(wake, now, new long[] {CLOCK})));
  }

  private static RedlockVote held(String claim) {
    return RedlockVote.held(claim, CLOCK - 7, 1_000_000, Optional.empty());
  }

  private List<Integer> toldNodes() {
    return told.stream().map(TellEnd::node).toList();
  }

  private void grant() {
    ask();
    vote(0, ACCEPTED);
    vote(1, ACCEPTED);
    vote(2, ACCEPTED);
  }

  @Test
  void majority_isGranted_andNothingIsTold() {
    grant();
    assertThat(outcomes).isEqualTo(List.of(new Granted(CLOCK, new Moment(0, 0), false)));
    assertThat(told).isEmpty();
    assertThat(votes.number()).isEqualTo(CLOCK);
    assertThat(votes.isForgotten()).isFalse();
  }

  /** The nodes' late answers to the first attempt say nothing against the votes that they gave the second. */
  @Test
  void repeatedAttempt_joinsTheFirst() {
    ask();
    vote(0, ACCEPTED);
    pass(TRY);
    ask();
    assertThat(asked).extracting(AskVote::number).containsOnly(CLOCK);
    vote(1, LATE);
    vote(4, ACCEPTED);
    vote(2, LATE);
    vote(5, ACCEPTED);
    vote(3, ACCEPTED);
    assertThat(outcomes).isEqualTo(List.of(new Granted(CLOCK, new Moment(0, 0), false)));
    assertThat(told).isEmpty();
  }

  @Test
  void validity_beginsWithTheOldestOfTheBestMajority() {
    ask();
    vote(0, ACCEPTED);
    pass(TRY);
    ask();
    vote(3, ACCEPTED);
    vote(4, ACCEPTED);
    assertThat(outcomes).isEqualTo(List.of(new Granted(CLOCK, now, false)));
  }

  @Test
  void voteThatIsLost_isCountedNoMore() {
    ask();
    vote(0, ACCEPTED);
    pass(TRY);
    ask();
    vote(3, held("other"));
    vote(4, ACCEPTED);
    assertThat(outcomes).isEmpty();
    // also if the lost one is told of afterwards
    vote(1, ACCEPTED);
    assertThat(outcomes).isEmpty();
  }

  @Test
  void laterAnswerThatSaysNothing_leavesTheVote() {
    ask();
    pass(TRY);
    ask();
    vote(3, UNKNOWN);
    vote(0, ACCEPTED);
    vote(1, ACCEPTED);
    assertThat(outcomes).isEqualTo(List.of(new Granted(CLOCK, new Moment(0, 0), false)));
  }

  @Test
  void grantedNumber_isEndedByReleaseAlone() {
    ask();
    vote(0, ACCEPTED);
    pass(TRY);
    ask();
    vote(3, ACCEPTED);
    vote(4, ACCEPTED);
    vote(1, LATE);
    vote(2, UNKNOWN);
    vote(5, ACCEPTED);
    assertThat(told).isEmpty();
    note(votes.release(Duration.ZERO));
    assertThat(told)
        .containsExactly(
            new TellEnd(0, CLOCK, Duration.ZERO),
            new TellEnd(1, CLOCK, Duration.ZERO),
            new TellEnd(2, CLOCK, Duration.ZERO));
  }

  @Test
  void attemptAfterTheGrant_isAnsweredTheSame() {
    grant();
    pass(TRY);
    ask();
    assertThat(asked).hasSize(3);
    assertThat(outcomes).hasSize(2);
    assertThat(outcomes.get(1)).isEqualTo(outcomes.get(0));
  }

  /** The hold may have been renewed since: an attempt that was held up must not take its number back. */
  @Test
  void attemptLongAfterTheGrant_leavesIt() {
    grant();
    pass(LEASE.plus(TRY));
    ask();
    assertThat(asked).hasSize(3);
    assertThat(told).isEmpty();
    assertThat(votes.number()).isEqualTo(CLOCK);
  }

  @Test
  void majorityThatComesWhenItsLeaseIsOver_grantsNothing() {
    ask();
    pass(LEASE);
    ask();
    vote(0, ACCEPTED);
    vote(1, ACCEPTED);
    assertThat(outcomes).isEmpty();
    assertThat(toldNodes()).containsExactly(0, 1, 2);
    wake();
    assertThat(asked.get(6).number()).isGreaterThan(CLOCK);
  }

  @Test
  void numberThatWasGivenUp_isNeverAskedForAgain() {
    ask();
    vote(0, ACCEPTED);
    vote(1, held("other"));
    vote(2, held("another"));
    assertThat(toldNodes()).containsExactly(0);
    wake();
    assertThat(asked).hasSize(6);
    assertThat(asked.get(3).number()).isGreaterThan(CLOCK);
    // and the next one is decided as the first would have been, without its last node
    vote(3, ACCEPTED);
    vote(4, held("other"));
    pass(ClaimVotes.STRAGGLERS);
    wake();
    assertThat(outcomes).hasSize(1).hasOnlyElementsOfType(Busy.class);
  }

  /** An answer for a number that was given up is no vote for the next one, and is taken back. */
  @Test
  void numbers_areNotCountedTogether() {
    ask();
    vote(1, STALE);
    vote(2, STALE);
    pass(ClaimVotes.STRAGGLERS);
    wake();
    wake();
    assertThat(asked.get(3).number()).isEqualTo(CLOCK + 6);
    vote(4, ACCEPTED);
    vote(0, ACCEPTED);
    assertThat(outcomes).isEmpty();
    assertThat(told).contains(new TellEnd(0, CLOCK, Duration.ZERO));
    vote(3, ACCEPTED);
    assertThat(outcomes).hasSize(1);
  }

  @Test
  void slowNode_isToldWhenItAcceptsWhatWasBusy() {
    ask();
    vote(0, held("other"));
    vote(1, held("other"));
    assertThat(outcomes.get(0)).isInstanceOf(Busy.class);
    assertThat(told).isEmpty();
    assertThat(votes.isForgotten()).isFalse();
    vote(2, ACCEPTED);
    assertThat(told).containsExactly(new TellEnd(2, CLOCK, Duration.ZERO));
    assertThat(votes.isForgotten()).isFalse();
    end(0, Has.YES);
    assertThat(votes.isForgotten()).isTrue();
  }

  /** As long as a node may have an earlier number, a later attempt that came nowhere is not called one that left nothing. */
  @Test
  void earlierNumber_isRemembered() {
    ask();
    for (int i = 0; i < 3; i++) {
      vote(i, UNKNOWN);
    }
    assertThat(((Failed) outcomes.get(0)).notApplied()).isFalse();
    assertThat(toldNodes()).containsExactly(0, 1, 2);
    for (int i = 0; i < 3; i++) {
      end(i, Has.UNKNOWN);
    }
    ask();
    for (int i = 3; i < 6; i++) {
      vote(i, NOT_SENT);
    }
    assertThat(((Failed) outcomes.get(1)).notApplied()).isFalse();
    assertThat(votes.isForgotten()).isFalse();
    note(votes.release(Duration.ZERO));
    assertThat(told.subList(3, 9)).extracting(TellEnd::number).containsOnly(CLOCK + 1);
    for (int i = 3; i < 9; i++) {
      end(i, Has.NO);
    }
    assertThat(votes.isForgotten()).isTrue();
  }

  @Test
  void whatCameNowhere_leftNothing() {
    ask();
    vote(0, NOT_SENT);
    vote(1, LATE);
    vote(2, LATE);
    assertThat(outcomes).isEqualTo(List.of(new Late()));
    assertThat(votes.isForgotten()).isTrue();
  }

  /** A claim that waits in the nodes' memory has to be ended, though no node has a vote of it. */
  @Test
  void claimThatWaits_isNotForgotten() {
    ask();
    for (int i = 0; i < 2; i++) {
      note(votes.voted(asked.get(i), held("other"), true, now.nanos()));
    }
    vote(2, LATE);
    assertThat(votes.isForgotten()).isFalse();
    note(votes.release(Duration.ZERO));
    assertThat(toldNodes()).containsExactly(0, 1, 2);
  }

  @Test
  void nodeThatIsReachedAgain_isToldOnce() {
    grant();
    note(votes.release(Duration.ofSeconds(3)));
    end(0, Has.YES);
    end(1, Has.YES);
    end(2, Has.UNKNOWN);
    assertThat(votes.isForgotten()).isFalse();
    note(votes.reconnected(0));
    note(votes.reconnected(2));
    note(votes.reconnected(2));
    assertThat(told.subList(3, told.size()))
        .containsExactly(new TellEnd(2, CLOCK, Duration.ofSeconds(3)));
    end(3, Has.YES);
    assertThat(votes.isForgotten()).isTrue();
  }

  /** Its answer to the end went to where it was before: that is known only after it came back. */
  @Test
  void nodeThatCameBackBeforeItsEndFailed_isToldAgain() {
    grant();
    note(votes.release(Duration.ZERO));
    end(0, Has.YES);
    end(1, Has.YES);
    note(votes.reconnected(2));
    assertThat(told).hasSize(3);
    end(2, Has.UNKNOWN);
    assertThat(told.subList(3, told.size())).containsExactly(new TellEnd(2, CLOCK, Duration.ZERO));
    // but not for ever, as long as it does not come back
    end(3, Has.UNKNOWN);
    assertThat(told).hasSize(4);
  }

  /** One node is silent, and the majority slower than half of an attempt's time: it is decided all the same. */
  @Test
  void splitVotes_areDecidedThoughTheAttemptIsRepeated() {
    ask();
    pass(TRY.multipliedBy(2).dividedBy(3));
    vote(0, ACCEPTED);
    vote(1, held("other"));
    pass(TRY.dividedBy(3));
    ask();
    assertThat(asked).hasSize(6);
    pass(TRY.dividedBy(3));
    wake();
    assertThat(toldNodes()).contains(0, 2);
    assertThat(told).extracting(TellEnd::number).containsOnly(CLOCK);
    wake();
    assertThat(asked).hasSize(9);
    assertThat(asked.get(6).number()).isGreaterThan(CLOCK);
  }

  /** Nodes that were asked too late are asked again by the next attempt, whose time is not over. */
  @Test
  void lateNodes_areAwaitedAgain() {
    ask();
    vote(0, LATE);
    vote(1, LATE);
    pass(TRY);
    ask();
    wake();
    assertThat(outcomes).isEmpty();
    vote(3, ACCEPTED);
    vote(4, ACCEPTED);
    assertThat(outcomes).isEqualTo(List.of(new Granted(CLOCK, now, false)));
  }

  @Test
  void endedClaim_asksForNothing() {
    ask();
    note(votes.release(Duration.ZERO));
    assertThat(((Failed) outcomes.get(0)).notApplied()).isFalse();
    ask();
    assertThat(asked).hasSize(3);
    vote(0, ACCEPTED);
    vote(1, ACCEPTED);
    assertThat(outcomes).hasSize(2).hasOnlyElementsOfType(Failed.class);
    // each was told already, behind its vote or before
    assertThat(told).hasSize(3);
  }

  /** An end that is under way could meet a number of the same claim that is proposed anew. */
  @Test
  void endUnderWay_isAwaited() {
    ask();
    vote(0, ACCEPTED);
    vote(1, NOT_SENT);
    vote(2, NOT_SENT);
    assertThat(votes.isForgotten()).isFalse();
    end(0, Has.YES);
    assertThat(votes.isForgotten()).isTrue();
  }

  @Test
  void serverUnderTwoNames_votesOnce() {
    ask();
    vote(0, ACCEPTED.by("run"));
    vote(1, ACCEPTED.by("run"));
    assertThat(outcomes).isEmpty();
    vote(2, ACCEPTED.by("other run"));
    assertThat(outcomes).hasSize(1).hasOnlyElementsOfType(Granted.class);
  }
}
