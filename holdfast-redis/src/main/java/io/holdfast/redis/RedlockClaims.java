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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The claims of this client, by what their {@link ClaimVotes} order: asks the nodes, and answers the engine. */
final class RedlockClaims {
  /** An end is repeated after a request's time, and at last after that many doublings of it. */
  private static final int DOUBLINGS = 5;

  private final RedlockContext context;
  private final Map<ClaimId, Entry> entries = new ConcurrentHashMap<>();

  /** One claim; but for the number, only ever touched within {@link Map#compute} for its id. */
  private static final class Entry {
    final Claim claim;
    final ClaimVotes votes;
    final AtomicBoolean ages = new AtomicBoolean();
    final AtomicBoolean isToBeRepeated = new AtomicBoolean();
    final AtomicInteger repetitions = new AtomicInteger();
    volatile long number;
    Mode mode = Mode.TRY;
    List<CompletableFuture<Answer>> attempts = List.of();

    /** When the last request can be applied for the last time. */
    long usedNanos;

    Entry(Claim claim, ClaimVotes votes) {
      this.claim = claim;
      this.votes = votes;
    }
  }

  /** What one event has led to, to be carried out when the claim is free for the next one. */
  private record Step(
      Entry entry, Mode mode, List<Order> orders, List<CompletableFuture<Answer>> attempts) {
    Claim claim() {
      return entry.claim;
    }
  }

  RedlockClaims(RedlockContext context) {
    this.context = context;
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
    long deadline = now.nanos() + left.toNanos();
    Step made = step(claim.id(), found -> found == null ? begin(claim) : found, entry -> {
      entry.mode = mode;
      entry.usedNanos = deadline;
      entry.attempts = new ArrayList<>(entry.attempts);
      entry.attempts.add(answer);
      return entry.votes.ask(now, deadline, clocks);
    });
    carryOut(made, (node, reply) -> {});
    return answer;
  }

  /**
   * Ends a claim.
   *
   * @param hears is told what each node has answered
   * @return false if nothing of the claim can be at any node, so that none was told
   */
  boolean end(Claim claim, Duration keepFor, BiConsumer<Integer, RedlockReply> hears) {
    long last = context.runtime().ticker().nanos() + requestNanos();
    Step made = step(claim.id(), found -> found, entry -> {
      entry.usedNanos = last;
      entry.repetitions.set(0);
      return entry.votes.release(keepFor);
    });
    carryOut(made, hears);
    return made != null && !made.orders.isEmpty();
  }

  /** A node can be reached again. */
  void reconnected(int node) {
    for (Entry entry : entries.values()) {
      // one that is asked for or held has told no node of its end
      if (entry.number == 0) {
        event(entry, votes -> votes.reconnected(node));
      }
    }
  }

  private long requestNanos() {
    return context.runtime().requestTimeout().toNanos();
  }

  /** An event of an entry; one that was forgotten meanwhile hears of nothing, though its claim may have begun anew. */
  private void event(Entry entry, Function<ClaimVotes, List<Order>> event) {
    Step made = step(
        entry.claim.id(), found -> found == entry ? found : null, same -> event.apply(same.votes));
    carryOut(made, (node, reply) -> {});
  }

  /** Returns what is to be done; null if there is no such entry. */
  private @Nullable Step step(
      ClaimId id,
      Function<@Nullable Entry, @Nullable Entry> choose,
      Function<Entry, List<Order>> event) {
    AtomicReference<@Nullable Step> made = new AtomicReference<>();
    entries.compute(id, (same, found) -> {
      Entry entry = choose.apply(found);
      if (entry == null) {
        return found;
      }
      List<Order> orders = event.apply(entry);
      entry.number = entry.votes.number();
      boolean answers = orders.stream().anyMatch(order -> order instanceof Outcome);
      made.set(new Step(entry, entry.mode, orders, answers ? entry.attempts : List.of()));
      entry.attempts = answers ? List.of() : entry.attempts;
      return entry.votes.isForgotten() ? null : entry;
    });
    return made.get();
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

  private void carryOut(@Nullable Step step, BiConsumer<Integer, RedlockReply> hears) {
    if (step != null) {
      step.orders.forEach(order -> carryOut(step, order, hears));
    }
  }

  private void carryOut(Step step, Order order, BiConsumer<Integer, RedlockReply> hears) {
    if (order instanceof AskVote ask) {
      ask(step, ask);
    } else if (order instanceof TellEnd end) {
      tell(step.entry, end, hears);
    } else if (order instanceof Wake wake) {
      wake(step.entry, wake);
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
        .attempt(step.claim(), ask.number(), step.mode, leftNanos / 1000)
        .whenComplete((vote, never) -> event(
            step.entry,
            votes -> votes.voted(ask, vote, waits, context.runtime().ticker().nanos())));
  }

  private void tell(Entry entry, TellEnd end, BiConsumer<Integer, RedlockReply> hears) {
    context
        .nodes()
        .get(end.node())
        .end(entry.claim, end.number(), end.keepFor())
        .whenComplete((reply, never) -> {
          hears.accept(end.node(), reply);
          event(entry, votes -> votes.ended(end, reply.has()));
          if (reply.has() == Has.UNKNOWN) {
            age(entry);
            repeat(entry);
          }
        });
  }

  private void wake(Entry entry, Wake wake) {
    Runnable wakes = () -> {
      Moment now = context.runtime().ticker().now();
      long[] clocks = context.clocks();
      event(entry, votes -> votes.woken(wake, now, clocks));
    };
    if (wake.nanos() == 0) {
      wakes.run();
    } else {
      context.runtime().scheduler().schedule(wakes, wake.nanos());
    }
  }

  /**
   * A node did not confirm an end: it may have refused it, without its connection being lost. It is told again, after pauses that
   * double, until the claim is forgotten.
   */
  private void repeat(Entry entry) {
    if (entry.isToBeRepeated.compareAndSet(false, true)) {
      long pause = requestNanos() << Math.min(entry.repetitions.getAndIncrement(), DOUBLINGS);
      Runnable repeats = () -> {
        entry.isToBeRepeated.set(false);
        event(entry, ClaimVotes::repeated);
      };
      context.runtime().scheduler().schedule(repeats, pause);
    }
  }

  /** A node did not confirm an end, and may never do: the claim is forgotten when nothing of it can be there. */
  private void age(Entry entry) {
    if (entry.ages.compareAndSet(false, true)) {
      context.runtime().scheduler().schedule(() -> aged(entry), ageNanos(entry));
    }
  }

  /** How long a vote can last that a node gave to the last request, by its clock. */
  private long ageNanos(Entry entry) {
    return RedlockRule.atMost(entry.claim.lease()).toNanos();
  }

  private void aged(Entry entry) {
    long now = context.runtime().ticker().nanos();
    entry.ages.set(false);
    entries.computeIfPresent(entry.claim.id(), (id, found) -> {
      boolean over = entry.votes.rests() && now - entry.usedNanos >= ageNanos(entry);
      return found == entry && over ? null : found;
    });
    if (entries.get(entry.claim.id()) == entry) {
      age(entry);
    }
  }

  private Answer answer(Step step, Order order) {
    Claim claim = step.claim();
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
    String what = context.store() + ": there is no majority (" + failed.what() + ")";
    if (failed.majorityInMicros() > 0) {
      // the majority does not need the failed nodes, so their reason does not count
      Duration readyIn = Duration.of(failed.majorityInMicros(), ChronoUnit.MICROS);
      return new StoreException(
          what, Reason.UNREACHABLE, failed.notApplied(), failed.cause(), readyIn);
    }
    Reason reason =
        failed.cause() instanceof StoreException known ? known.reason() : Reason.UNREACHABLE;
    return new StoreException(
        RedisErrors.because(what, failed.cause()), reason, failed.notApplied(), failed.cause());
  }
}
