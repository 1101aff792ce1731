// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.RedlockNode.Ballot;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Attempt, keep and end: each a round of requests to all nodes at once. */
final class RedlockLocks {
  /** A script keeps everybody else waiting: so many claims are kept in one. */
  private static final int BATCH = 100;

  private final RedlockContext context;
  private final RedlockClaims claims;

  /** What a majority has, and whether others wait. */
  private record Verdict(
      Has has, boolean othersWait, @Nullable Throwable failure) {}

  RedlockLocks(RedlockContext context) {
    this.context = context;
    this.claims = new RedlockClaims(context);
  }

  /** A node can be reached again. */
  void reconnected(int node) {
    claims.reconnected(node);
  }

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Duration left) {
    if (left.isNegative() || left.isZero()) {
      // its thread was held up: the claim may have been granted, or ended, meanwhile
      return CompletableFuture.completedFuture(new Answer.Late());
    }
    if (mode == Mode.QUEUE) {
      context.waits().asks(claim);
    }
    return claims.attempt(claim, mode, left).whenComplete((answer, failure) -> {
      if (isOver(mode, answer, failure)) {
        context.waits().over(claim);
      }
    });
  }

  /** Says whether nothing is left of an attempt, so that the engine may never end the claim. */
  private static boolean isOver(Mode mode, @Nullable Answer answer, @Nullable Throwable failure) {
    if (answer != null) {
      return mode == Mode.TRY && !(answer instanceof Answer.Granted);
    }
    return failure instanceof StoreException known && known.notApplied();
  }

  private RedlockRound<RedlockReply, Verdict> round() {
    return new RedlockRound<>(context.runtime(), context.nodes().size(), (replies, over) -> {
      Has has = RedlockReply.majority(replies, over);
      return has == null
          ? null
          : new Verdict(has, RedlockReply.othersWait(replies), RedlockReply.failure(replies));
    });
  }

  private static void heard(
      RedlockRound<RedlockReply, Verdict> round, int node, RedlockReply reply) {
    round.heard(node, reply, reply.has() != Has.UNKNOWN);
  }

  CompletionStage<Map<ClaimId, Kept>> keep(List<Claim> all) {
    Map<ClaimId, Kept> kept = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> batches = new ArrayList<>();
    for (int from = 0; from < all.size(); from += BATCH) {
      batches.add(keepBatch(all.subList(from, Math.min(from + BATCH, all.size())), kept));
    }
    return CompletableFuture.allOf(batches.toArray(CompletableFuture[]::new))
        .thenApply(done -> kept);
  }

  private CompletableFuture<?> keepBatch(List<Claim> batch, Map<ClaimId, Kept> kept) {
    List<Ballot> ballots = new ArrayList<>();
    List<RedlockRound<RedlockReply, Verdict>> rounds = new ArrayList<>();
    List<CompletableFuture<?>> done = new ArrayList<>();
    Moment sent = context.runtime().ticker().now();
    for (Claim claim : batch) {
      long number = claims.number(claim.id());
      ballots.add(new Ballot(claim, number));
      RedlockRound<RedlockReply, Verdict> round = round();
      rounds.add(round);
      done.add(round
          .decision()
          .thenAccept(verdict -> kept.put(claim.id(), kept(claim, number, sent, verdict)))
          .toCompletableFuture());
    }
    List<RedlockNode> nodes = context.nodes();
    RedlockVoters voters = new RedlockVoters();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      nodes.get(i).keep(ballots).whenComplete((replies, never) -> {
        boolean counts = voters.isFirst(replies.get(0).server());
        for (int k = 0; k < replies.size(); k++) {
          heard(
              rounds.get(k),
              node,
              counts ? replies.get(k) : RedlockReply.unknown(RedlockVoters.votedAlready()));
        }
      });
    }
    return CompletableFuture.allOf(done.toArray(CompletableFuture[]::new));
  }

  private static Kept kept(Claim claim, long number, Moment sent, Verdict verdict) {
    return switch (verdict.has) {
      case YES -> new Kept.Held(new Grant(number, sent, claim.lease(), verdict.othersWait));
      case NO -> new Kept.Gone();
      case UNKNOWN -> new Kept.Unknown();
    };
  }

  /** Final as soon as a majority has seen the number: an attempt with it that comes later is refused there. */
  CompletionStage<Ended> end(Claim claim, Duration keepFor) {
    context.waits().over(claim);
    RedlockRound<RedlockReply, Verdict> round = round();
    RedlockVoters voters = new RedlockVoters();
    boolean told = claims.end(
        claim,
        keepFor,
        (node, reply) -> heard(
            round,
            node,
            voters.isFirst(reply.server())
                ? reply
                : RedlockReply.unknown(RedlockVoters.votedAlready())));
    return told
        ? round.decision().thenApply(this::ended)
        : CompletableFuture.completedFuture(new Ended(Outcome.NOT_THERE, true, false));
  }

  private Ended ended(Verdict verdict) {
    if (verdict.has == Has.UNKNOWN) {
      Reason reason =
          verdict.failure instanceof StoreException failed ? failed.reason() : Reason.UNREACHABLE;
      throw new StoreException(
          RedisErrors.because(
              context.store() + ": no majority of the nodes confirmed the end", verdict.failure),
          reason,
          false,
          verdict.failure);
    }
    Outcome outcome = verdict.has == Has.YES ? Outcome.RELEASED : Outcome.NOT_THERE;
    return new Ended(outcome, true, verdict.othersWait);
  }
}
