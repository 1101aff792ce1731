// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Moment;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.redis.ClaimVotes.AskVote;
import io.holdfast.redis.ClaimVotes.Busy;
import io.holdfast.redis.ClaimVotes.Failed;
import io.holdfast.redis.ClaimVotes.Granted;
import io.holdfast.redis.ClaimVotes.Order;
import io.holdfast.redis.ClaimVotes.Outcome;
import io.holdfast.redis.ClaimVotes.TellEnd;
import io.holdfast.redis.ClaimVotes.Wake;
import io.holdfast.redis.RedlockReply.Has;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** The claims of this client, by what their {@link ClaimVotes} order: asks the nodes, and answers the engine. */
final class RedlockClaims {
  private final RedlockContext context;
  private final Map<ClaimId, Entry> entries = new ConcurrentHashMap<>();

  /** After so long without a request, nothing of a claim can be at any node. */
  private final long endsByItselfNanos;

  /** One claim; its number apart, only ever touched within {@link Map#compute} for its id. */
  private static final class Entry {
    final Claim claim;
    final ClaimVotes votes;
    volatile long number;
    Mode mode = Mode.TRY;
    List<CompletableFuture<Answer>> attempts = List.of();
    long usedNanos;
    boolean ages;

    Entry(Claim claim, ClaimVotes votes) {
      this.claim = claim;
      this.votes = votes;
    }
  }

  /** What one event has led to, to be carried out when the claim is free for the next one. */
  private record Step(
      Claim claim, Mode mode, List<Order> orders, List<CompletableFuture<Answer>> attempts) {}

  RedlockClaims(RedlockContext context) {
    this.context = context;
    this.endsByItselfNanos =
        context.rule().abstains().plus(context.runtime().requestTimeout()).toNanos();
  }

  /** Returns the number that a claim has, or asks for; zero for none. */
  long number(ClaimId id) {
    Entry entry = entries.get(id);
    return entry == null ? 0 : entry.number;
  }

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Duration left) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    Moment now = context.runtime().ticker().now();
    long[] clocks = context.clocks();
    step(claim, true, (node, reply) -> {}, entry -> {
      entry.mode = mode;
      entry.usedNanos = now.nanos();
      entry.attempts = new ArrayList<>(entry.attempts);
      entry.attempts.add(answer);
      return entry.votes.ask(now, now.nanos() + left.toNanos(), clocks);
    });
    return answer;
  }

  /**
   * Ends a claim.
   *
   * @param hears is told what each node has answered
   * @return false if nothing of the claim can be at any node, so that none was told
   */
  boolean end(Claim claim, Duration keepFor, BiConsumer<Integer, RedlockReply> hears) {
    long now = context.runtime().ticker().nanos();
    return step(claim, false, hears, entry -> {
      entry.usedNanos = now;
      return entry.votes.release(keepFor);
    });
  }

  /** A node can be reached again. */
  void reconnected(int node) {
    for (Entry entry : entries.values()) {
      step(entry.claim, false, (same, reply) -> {}, found -> found.votes.reconnected(node));
    }
  }

  private boolean step(
      Claim claim,
      boolean begins,
      BiConsumer<Integer, RedlockReply> hears,
      Function<Entry, List<Order>> event) {
    List<Step> made = new ArrayList<>(1);
    entries.compute(claim.id(), (id, found) -> {
      Entry entry = found == null && begins ? begin(claim) : found;
      if (entry == null) {
        return null;
      }
      List<Order> orders = event.apply(entry);
      entry.number = entry.votes.number();
      boolean answers = orders.stream().anyMatch(order -> order instanceof Outcome);
      made.add(new Step(claim, entry.mode, orders, answers ? entry.attempts : List.of()));
      entry.attempts = answers ? List.of() : entry.attempts;
      return entry.votes.isForgotten() ? null : entry;
    });
    made.forEach(step -> step.orders.forEach(order -> carryOut(step, order, hears)));
    return !made.isEmpty() && !made.get(0).orders.isEmpty();
  }

  private Entry begin(Claim claim) {
    return new Entry(
        claim,
        new ClaimVotes(
            context.rule().nodes(),
            claim.lease(),
            context.rule().reachMicros(),
            context.runtime().random()::nextDouble));
  }

  private void carryOut(Step step, Order order, BiConsumer<Integer, RedlockReply> hears) {
    if (order instanceof AskVote ask) {
      ask(step, ask);
    } else if (order instanceof TellEnd end) {
      tell(step.claim, end, hears);
    } else if (order instanceof Wake wake) {
      wake(step.claim, wake);
    } else if (order instanceof Failed failed) {
      StoreException failure = failure(failed);
      step.attempts.forEach(attempt -> attempt.completeExceptionally(failure));
    } else {
      Answer answer = answer(step, order);
      step.attempts.forEach(attempt -> attempt.complete(answer));
    }
  }

  private void ask(Step step, AskVote ask) {
    boolean waits = step.mode == Mode.QUEUE;
    long leftNanos =
        Math.max(0, ask.deadlineNanos() - context.runtime().ticker().nanos());
    context
        .nodes()
        .get(ask.node())
        .attempt(step.claim, ask.number(), step.mode, leftNanos / 1000)
        .whenComplete((vote, never) -> event(
            step.claim,
            votes -> votes.voted(ask, vote, waits, context.runtime().ticker().nanos())));
  }

  private void event(Claim claim, Function<ClaimVotes, List<Order>> event) {
    step(claim, false, (node, reply) -> {}, entry -> event.apply(entry.votes));
  }

  private void tell(Claim claim, TellEnd end, BiConsumer<Integer, RedlockReply> hears) {
    context
        .nodes()
        .get(end.node())
        .end(claim, end.number(), end.keepFor())
        .whenComplete((reply, never) -> {
          event(claim, votes -> votes.ended(end, reply.has()));
          if (reply.has() == Has.UNKNOWN) {
            age(claim.id());
          }
          hears.accept(end.node(), reply);
        });
  }

  private void wake(Claim claim, Wake wake) {
    Runnable wakes = () -> {
      Moment now = context.runtime().ticker().now();
      long[] clocks = context.clocks();
      event(claim, votes -> votes.woken(wake.turn(), now, clocks));
    };
    if (wake.nanos() == 0) {
      wakes.run();
    } else {
      context.runtime().scheduler().schedule(wakes, wake.nanos());
    }
  }

  /** A node did not confirm an end, and may never do: the claim is forgotten when nothing of it can be there. */
  private void age(ClaimId id) {
    AtomicBoolean begins = new AtomicBoolean();
    entries.computeIfPresent(id, (same, entry) -> {
      begins.set(!entry.ages);
      entry.ages = true;
      return entry;
    });
    if (begins.get()) {
      context.runtime().scheduler().schedule(() -> aged(id), endsByItselfNanos);
    }
  }

  private void aged(ClaimId id) {
    long now = context.runtime().ticker().nanos();
    entries.computeIfPresent(id, (same, entry) -> {
      entry.ages = false;
      boolean over = now - entry.usedNanos >= endsByItselfNanos;
      return entry.votes.rests() && over ? null : entry;
    });
    if (entries.containsKey(id)) {
      age(id);
    }
  }

  private Answer answer(Step step, Order order) {
    Claim claim = step.claim;
    if (order instanceof Granted granted) {
      context.waits().over(claim);
      return new Answer.Granted(
          new Grant(granted.number(), granted.sent(), claim.lease(), granted.othersWait()));
    }
    if (order instanceof Busy busy) {
      long left = busy.tally().freeInMicros();
      if (step.mode == Mode.QUEUE) {
        context.waits().lookWhenFree(claim, left);
      }
      return new Answer.Busy(
          false, busy.tally().holder(), Optional.of(Duration.of(left, ChronoUnit.MICROS)));
    }
    return new Answer.Late();
  }

  private StoreException failure(Failed failed) {
    Reason reason =
        failed.cause() instanceof StoreException known ? known.reason() : Reason.UNREACHABLE;
    return new StoreException(
        context.store() + ": there is no majority (" + failed.what() + ")",
        reason,
        failed.notApplied(),
        failed.cause());
  }
}
