// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.RedlockTally.Decision;
import io.holdfast.redis.RedlockVote.Kind;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One attempt: proposes a number to all nodes, and a higher one as long as nobody has a majority and there is time.
 *
 * <pre>
 *   propose --GRANTED--> done
 *      ^    --BUSY, LATE, TOO_FEW--> let go, done
 *      |    --SPLIT--> let go, pause --+
 *      |    --AGAIN-------------------+|
 *      +------------------------------++
 * </pre>
 *
 * <p>Rounds follow each other: one thread at a time is in here.
 */
final class RedlockAttempt {
  private static final long PAUSE_NANOS = 2_000_000L;
  private static final int DOUBLINGS = 5;

  /** So many proposals in a row are made without a pause, if nothing but their numbers was refused. */
  private static final int AT_ONCE = 2;

  private final RedlockContext context;
  private final Claim claim;
  private final Mode mode;
  private final RedlockClaims.Entry entry;
  private final long deadlineNanos;
  private final CompletableFuture<Answer> answer = new CompletableFuture<>();
  private List<@Nullable RedlockVote> votes = List.of();
  private RedlockTally.@Nullable Other before;
  private int rounds;

  /** The answers to one proposal, counted. */
  private record Outcome(
      Decision decision, RedlockTally tally, List<@Nullable RedlockVote> votes) {}

  RedlockAttempt(
      RedlockContext context, Claim claim, Mode mode, RedlockClaims.Entry entry, Duration left) {
    this.context = context;
    this.claim = claim;
    this.mode = mode;
    this.entry = entry;
    this.deadlineNanos = context.runtime().ticker().nanos() + left.toNanos();
  }

  CompletionStage<Answer> start() {
    propose();
    return answer;
  }

  private void propose() {
    Moment sent = context.runtime().ticker().now();
    long number = entry.propose(last ->
        RedlockNumbers.next(context.clocks(), last, votes, context.rule().reachMicros()));
    if (number == 0) {
      answer.completeExceptionally(failure("the claim has ended meanwhile", null, false));
      return;
    }
    List<RedlockNode> nodes = context.nodes();
    RedlockTally.@Nullable Other seen = before;
    // what comes late is looked at when it is clear what has become of the number
    CompletableFuture<Long> settled = new CompletableFuture<>();
    CompletionStage<Long> afterwards = settled;
    RedlockRound<RedlockVote, Outcome> round = new RedlockRound<>(
        context.runtime(),
        nodes.size(),
        (heard, over) -> judge(heard, over, seen),
        (node, vote) ->
            afterwards.whenComplete((done, never) -> late(nodes.get(node), vote, number)));
    round.decision().whenComplete((outcome, never) -> {
      decided(outcome, number, sent);
      settled.complete(number);
    });
    long leftMicros = Math.max(0, deadlineNanos - sent.nanos()) / 1000;
    RedlockVoters voters = new RedlockVoters();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      nodes.get(i).attempt(claim, number, mode, leftMicros).whenComplete((said, never) -> {
        RedlockVote vote = voters.isFirst(said.server())
            ? said
            // what it accepted in the other node's name too is to be taken back there with that
            : RedlockVote.failed(RedlockVoters.votedAlready(), said.kind() != Kind.ACCEPTED);
        boolean answers = vote.kind() != Kind.FAILED && vote.kind() != Kind.UNKNOWN;
        round.heard(node, vote, answers);
      });
    }
  }

  private static @Nullable Outcome judge(
      List<@Nullable RedlockVote> heard, boolean over, RedlockTally.@Nullable Other seen) {
    RedlockTally tally = new RedlockTally(heard);
    Decision decision = tally.decide(over, seen);
    return decision == Decision.OPEN ? null : new Outcome(decision, tally, heard);
  }

  private void decided(Outcome outcome, long number, Moment sent) {
    RedlockTally tally = outcome.tally;
    if (outcome.decision == Decision.GRANTED) {
      granted(tally, number, sent);
      return;
    }
    entry.spend(number);
    letGo(outcome, number);
    switch (outcome.decision) {
      case BUSY -> busy(tally);
      case SPLIT, AGAIN -> again(outcome);
      case LATE -> answer.complete(new Answer.Late());
      default ->
        answer.completeExceptionally(failure(tally.describe(), tally.failure(), tally.isNowhere()));
    }
  }

  private void granted(RedlockTally tally, long number, Moment sent) {
    if (!entry.isCurrent(number)) {
      // a repetition of this attempt has gone on to a higher number
      answer.completeExceptionally(failure("another attempt overtook this one", null, false));
      return;
    }
    context.waits().over(claim);
    answer.complete(new Answer.Granted(new Grant(number, sent, claim.lease(), tally.othersWait())));
  }

  private void busy(RedlockTally tally) {
    long left = tally.freeInMicros();
    if (mode == Mode.QUEUE) {
      context.waits().lookWhenFree(claim, left);
    }
    answer.complete(
        new Answer.Busy(false, tally.holder(), Optional.of(Duration.of(left, ChronoUnit.MICROS))));
  }

  private void again(Outcome outcome) {
    votes = outcome.votes;
    before = outcome.tally.first();
    rounds++;
    boolean split = outcome.decision == Decision.SPLIT;
    long pause = split || rounds > AT_ONCE ? pause() : 0;
    if (context.runtime().ticker().nanos() + pause - deadlineNanos >= 0) {
      if (split) {
        busy(outcome.tally);
      } else {
        answer.completeExceptionally(failure(outcome.tally.describe(), null, false));
      }
    } else if (pause == 0) {
      propose();
    } else {
      context.runtime().scheduler().schedule(this::propose, pause);
    }
  }

  /** Drawn from a range that doubles, so that one of two who split the votes comes first the next time. */
  private long pause() {
    long most = PAUSE_NANOS << Math.min(rounds, DOUBLINGS);
    return 1 + (long) (context.runtime().random().nextDouble() * most);
  }

  /** Takes back what was proposed, everywhere where it may be. */
  private void letGo(Outcome outcome, long number) {
    for (int i = 0; i < outcome.votes.size(); i++) {
      RedlockVote vote = outcome.votes.get(i);
      // who is only slower than the majority that says busy is told if it accepts
      boolean mayBe = vote == null
          ? outcome.decision != Decision.BUSY
          : vote.kind() == Kind.ACCEPTED || vote.kind() == Kind.UNKNOWN;
      if (mayBe) {
        var unused = context.nodes().get(i).end(claim, number, Duration.ZERO);
      }
    }
  }

  /** A node answered after the decision. */
  private void late(RedlockNode node, RedlockVote vote, long number) {
    boolean mayBe = vote.kind() == Kind.ACCEPTED || vote.kind() == Kind.UNKNOWN;
    if (mayBe && !entry.isCurrent(number)) {
      var unused = node.end(claim, number, Duration.ZERO);
    }
  }

  private StoreException failure(String what, @Nullable Throwable cause, boolean notApplied) {
    Reason reason = cause instanceof StoreException failed ? failed.reason() : Reason.UNREACHABLE;
    return new StoreException(
        context.store() + ": there is no majority (" + what + ")", reason, notApplied, cause);
  }
}
