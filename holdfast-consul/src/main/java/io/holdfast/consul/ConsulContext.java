// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** What the parts of a started store share: the agents, the clocks, the sessions, and the claims that are not over. */
final class ConsulContext {
  /** A server takes so many connections from one machine by default; blocking queries have one each. */
  private static final int MOST_QUERIES = 64;

  /** Bounds the memory: what a server does later than so many others were given up is not found. */
  private static final int MOST_GIVEN_UP = 1_000;

  final ConsulCalls calls;
  final ConsulKeys keys;
  final ConsulSettings settings;
  final ConsulClock clock;
  final StoreRuntime runtime;
  final StoreEvents events;

  private final Map<Duration, ConsulSession> sessions = new ConcurrentHashMap<>();
  private final Map<String, ConsulSession.Term> terms = new ConcurrentHashMap<>();
  private final Map<ClaimId, ConsulClaim> claims = new ConcurrentHashMap<>();

  /** Locks of claims whose end was given up: servers that answered nothing may do later what an attempt has asked for. */
  private final Queue<LockKey> givenUp = new ConcurrentLinkedQueue<>();

  private final AtomicInteger queries = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Map<Long, CompletableFuture<Boolean>> words = new ConcurrentHashMap<>();
  private final AtomicLong word = new AtomicLong();
  private volatile boolean leftWord;

  ConsulContext(
      ConsulCalls calls, ConsulSettings settings, StoreRuntime runtime, StoreEvents events) {
    this.calls = calls;
    this.keys = new ConsulKeys(settings.prefix());
    this.settings = settings;
    this.clock = new ConsulClock(runtime.ticker());
    this.runtime = runtime;
    this.events = events;
  }

  /** Does a verb's first transaction, on the thread that calls the verb if that waits for it anyway, and can. */
  CompletableFuture<ConsulTxn.Answer> firstTxn(ConsulTxn txn) {
    return runtime.callerWaits().getAsBoolean() ? calls.txnHere(txn) : calls.txn(txn);
  }

  /** Returns the session for holds of this length. */
  ConsulSession session(Duration lease) {
    Duration length = ConsulSession.lengthFor(lease);
    return sessions.computeIfAbsent(
        length,
        each -> new ConsulSession(
            calls,
            runtime.ticker(),
            each,
            settings.lockDelay(),
            this::begun,
            term -> terms.remove(term.id)));
  }

  /**
   * A session has begun; those that must have ended are asked for, so that they are forgotten. Nothing is locked with
   * one that begins behind the end of the store.
   */
  private void begun(ConsulSession.Term term) {
    for (ConsulSession.Term each : terms.values()) {
      if (each.isOver()) {
        CompletionStage<Boolean> renewed = each.renew();
        renewed.whenComplete((isThere, failure) -> {});
      }
    }
    terms.put(term.id, term);
    if (closed.get()) {
      calls.destroySession(term.id);
    }
  }

  /** Returns one of this client's sessions. */
  Optional<ConsulSession.Term> term(String id) {
    return Optional.ofNullable(terms.get(id));
  }

  /** Returns the sessions that no claim of this client's has, or may have, a lock with. */
  Set<String> idleTerms() {
    Set<String> idle = new HashSet<>(terms.keySet());
    for (ConsulClaim each : claims.values()) {
      if (each.isUnknown) {
        return Set.of();
      }
      each.terms().forEach(term -> idle.remove(term.id));
    }
    return idle;
  }

  /** Somebody waits, and says so in a key that a session has locked; nothing is asked behind the end of the store. */
  void leaveWord(Supplier<CompletableFuture<Boolean>> request) {
    CompletableFuture<Boolean> answered = new CompletableFuture<>();
    // before the look at the end: that waits for this one then
    long number = word.incrementAndGet();
    words.put(number, answered);
    leftWord = true;
    CompletionStage<Boolean> asked =
        closed.get() ? CompletableFuture.completedFuture(false) : request.get();
    // somebody else has left word, or the holder has gone; in any case it is no more than a hint
    asked.whenComplete((done, failure) -> {
      words.remove(number);
      answered.complete(true);
    });
  }

  /** Completes when all words that are under way were answered, well or not. */
  CompletableFuture<?> wordsAnswered() {
    return CompletableFuture.allOf(words.values().toArray(CompletableFuture[]::new));
  }

  boolean hasLeftWord() {
    return leftWord;
  }

  /** How many sessions there may be. */
  int terms() {
    return terms.size();
  }

  ConsulClaim claim(Claim claim) {
    return claims.computeIfAbsent(claim.id(), id -> make(claim));
  }

  private ConsulClaim make(Claim claim) {
    return new ConsulClaim(claim, keys, clock.wall());
  }

  /** The claim is to be attempted: it is not forgotten until {@link #answered}, except by its end. */
  ConsulClaim asking(Claim claim) {
    return claims.compute(claim.id(), (id, known) -> {
      ConsulClaim mine = known == null ? make(claim) : known;
      mine.attemptBegan();
      return mine;
    });
  }

  /**
   * An attempt was answered.
   *
   * @param nobodyEndsIt whether the claim may be over with it: then it is forgotten, if nothing of it is there, and if no
   *     other attempt was answered so that the engine will end it
   */
  void answered(ConsulClaim mine, boolean nobodyEndsIt) {
    claims.computeIfPresent(mine.claim.id(), (id, known) -> {
      return known == mine && mine.attemptEnded(!nobodyEndsIt) ? null : known;
    });
  }

  Optional<ConsulClaim> known(ClaimId id) {
    return Optional.ofNullable(claims.get(id));
  }

  /** Returns the names of all claims that are not over, or may not be. */
  Set<LockKey> names() {
    Set<LockKey> names = new HashSet<>(givenUp);
    claims.values().forEach(each -> names.add(each.claim.name()));
    return names;
  }

  void forget(ConsulClaim claim) {
    claims.remove(claim.claim.id(), claim);
  }

  /** Forgets claims that the servers do not have, and whose end the engine has given up. Their locks' names are remembered. */
  void forgetGivenUp(Set<ClaimId> own) {
    for (ConsulClaim each : claims.values()) {
      if (each.isEndingFor(runtime.ticker(), runtime.endsRepeatedFor(each.claim.lease()))
          && !own.contains(each.claim.id())) {
        if (!givenUp.contains(each.claim.name())) {
          givenUp.add(each.claim.name());
        }
        if (givenUp.size() > MOST_GIVEN_UP) {
          givenUp.poll();
        }
        forget(each);
      }
    }
  }

  /** How many claims are remembered. */
  int remembered() {
    return claims.size();
  }

  /** Asks for the right to one more blocking query; {@link #queried} gives it back. */
  boolean mayQuery() {
    if (queries.incrementAndGet() <= MOST_QUERIES) {
      return true;
    }
    queries.decrementAndGet();
    return false;
  }

  void queried() {
    queries.decrementAndGet();
  }

  boolean isClosed() {
    return closed.get();
  }

  /**
   * Closes what waits. From now on nothing is begun: what is under way may still be answered.
   *
   * @return whether it was open
   */
  boolean close() {
    boolean isFirst = closed.compareAndSet(false, true);
    claims.values().forEach(ConsulClaim::stopWaiting);
    return isFirst;
  }

  void later(Duration after, Runnable task) {
    runtime.scheduler().schedule(task, after.toNanos());
  }
}
