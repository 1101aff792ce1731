// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.LockInfo;
import io.holdfast.Moment;
import io.holdfast.Waiters;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The store without a store: locks between the threads and clients of one process. Everything is answered at once, on
 * the calling thread; a released or expired lock is handed to the next waiter directly.
 */
public final class MemoryStore implements LockStore {
  private static final Guarantees GUARANTEES = new Guarantees(
      "memory",
      Set.of(Guarantee.FAIR, Guarantee.IMMUNE_TO_CLOCK_STEPS),
      Duration.ofMillis(50),
      Duration.ofDays(3650),
      Duration.ZERO,
      Duration.ofMillis(100),
      List.of(
          "Excludes only the threads and clients of one process that share the database.",
          "Everything is forgotten when the process ends."));

  private static final StoreTraits TRAITS =
      new StoreTraits(true, MemoryDatabase.WAITER_LEASE, Duration.ZERO);

  private final MemoryDatabase database;
  private final String name;
  private @Nullable StoreRuntime runtime;
  private @Nullable StoreEvents events;

  /** Makes a client of a database of its own. */
  public MemoryStore() {
    this(new MemoryDatabase());
  }

  /**
   * Makes a client of a database.
   *
   * @param database may be shared with other clients
   */
  public MemoryStore(MemoryDatabase database) {
    this(database, "");
  }

  MemoryStore(MemoryDatabase database, String name) {
    this.database = Objects.requireNonNull(database, "database");
    this.name = name;
  }

  @Override
  public Guarantees guarantees() {
    return GUARANTEES;
  }

  @Override
  public StoreTraits traits() {
    return TRAITS;
  }

  @Override
  public String describe() {
    return "memory:" + name;
  }

  @Override
  public void start(StoreRuntime given, StoreEvents told) {
    this.runtime = given;
    this.events = told;
  }

  @Override
  public CompletionStage<@Nullable Void> connect() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public Instant time() {
    return database.time();
  }

  @Override
  public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    Attempt attempt = new Attempt(claim, mode, giveUpAt);
    database.change(claim.name(), attempt);
    attempt.afterwards();
    return CompletableFuture.completedFuture(
        Objects.requireNonNull(attempt.answer, "every attempt is answered"));
  }

  /** One attempt, as a change of the record. */
  private final class Attempt implements MemoryDatabase.Change {
    private final Claim claim;
    private final Mode mode;
    private final Instant giveUpAt;
    private final Moment sent = runtime().ticker().now();
    private @Nullable Answer answer;
    private MemoryRecord.@Nullable Look look;

    Attempt(Claim claim, Mode mode, Instant giveUpAt) {
      this.claim = claim;
      this.mode = mode;
      this.giveUpAt = giveUpAt;
    }

    @Override
    public @Nullable MemoryRecord apply(@Nullable MemoryRecord existing) {
      long now = database.nowNanos();
      if (MemoryDatabase.timeAt(now).isAfter(giveUpAt)) {
        answer = new Answer.Late();
        return existing;
      }
      MemoryRecord record = existing == null ? new MemoryRecord() : existing;
      boolean free = record.expire(now);
      if (record.isHeldBy(claim)) {
        record.extend(now);
        answer = granted(record);
        return record;
      }
      MemoryRecord.Waiter first = free ? record.firstWaiter(now) : null;
      boolean itsTurn = first == null || first.claim.id().equals(claim.id());
      if (free && (itsTurn || mode == Mode.TRY)) {
        record.grant(claim, database.nextRevision(), now);
        answer = granted(record);
        return record;
      }
      if (mode == Mode.QUEUE) {
        record.enqueue(claim, MemoryStore.this, now);
      }
      look = record.look(claim.name(), now);
      long left = free ? 0 : record.leftNanos(now);
      Claim holder = record.holder();
      answer = new Answer.Busy(
          mode == Mode.QUEUE,
          Optional.ofNullable(holder).map(Claim::holder),
          Optional.of(Duration.ofNanos(left)));
      return record;
    }

    private Answer granted(MemoryRecord record) {
      boolean others = record.othersWait(claim.id().client());
      return new Answer.Granted(new Grant(record.revision(), sent, claim.lease(), others));
    }

    void afterwards() {
      lookLater(look);
    }
  }

  /** Lets a name be looked at when its holder's lease will have ended; by another client, maybe. */
  private static void lookLater(MemoryRecord.@Nullable Look look) {
    if (look != null) {
      look.by().runtime().scheduler().schedule(() -> look.by().look(look.key()), look.inNanos());
    }
  }

  private void look(LockKey key) {
    Settling settling = new Settling(key);
    database.change(key, record -> {
      if (record == null) {
        return null;
      }
      record.looked();
      return settling.settle(record, database.nowNanos());
    });
    settling.afterwards();
  }

  /** What follows from every change: a free lock goes to the first waiter, and somebody looks when the lease ends. */
  private class Settling {
    private final LockKey key;
    private MemoryRecord.@Nullable Waiter next;
    private @Nullable Grant grant;
    private MemoryRecord.@Nullable Look look;

    Settling(LockKey key) {
      this.key = key;
    }

    /** Within the change: returns the record, or null if nothing of it is needed. */
    @Nullable
    MemoryRecord settle(MemoryRecord record, long now) {
      if (record.expire(now)) {
        next = record.firstWaiter(now);
        grant = handTo(record, next, now);
      }
      look = record.look(key, now);
      return record.isEmpty() ? null : record;
    }

    /** After the change. */
    void afterwards() {
      if (next != null && grant != null) {
        next.client.events().granted(next.claim.id(), grant);
      }
      lookLater(look);
    }
  }

  private @Nullable Grant handTo(
      MemoryRecord record, MemoryRecord.@Nullable Waiter next, long now) {
    if (next == null) {
      return null;
    }
    // in one process the moment of the grant itself can be read: nothing lies between it and the waiter
    Moment anchor = next.client.runtime().ticker().now();
    record.grant(next.claim, database.nextRevision(), now);
    // a waiter that has died since its last refresh must not cost the others a whole lease
    Duration lease = record.shorten(MemoryDatabase.WAITER_LEASE, now);
    return new Grant(
        record.revision(), anchor, lease, record.othersWait(next.claim.id().client()));
  }

  @Override
  public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
    Map<ClaimId, Kept> answers = new HashMap<>(claims.size() * 2);
    Moment sent = runtime().ticker().now();
    for (Claim claim : claims) {
      database.change(claim.name(), record -> {
        answers.put(claim.id(), keepOne(record, claim, sent));
        return record;
      });
    }
    return CompletableFuture.completedFuture(answers);
  }

  private Kept keepOne(@Nullable MemoryRecord record, Claim claim, Moment sent) {
    if (record == null) {
      return new Kept.Gone();
    }
    long now = database.nowNanos();
    boolean free = record.expire(now);
    if (record.isHeldBy(claim)) {
      record.extend(now);
      boolean others = record.othersWait(claim.id().client());
      return new Kept.Held(new Grant(record.revision(), sent, claim.lease(), others));
    }
    MemoryRecord.Waiter waiter = record.waiter(claim.id());
    if (waiter == null) {
      return new Kept.Gone();
    }
    waiter.untilNanos = now + MemoryDatabase.WAITER_LEASE.toNanos();
    if (free && record.firstWaiter(now) == waiter) {
      record.grant(claim, database.nextRevision(), now);
      boolean others = record.othersWait(claim.id().client());
      return new Kept.Held(new Grant(record.revision(), sent, claim.lease(), others));
    }
    return new Kept.Queued();
  }

  @Override
  public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    End end = new End(claim, keepFor, lastGiveUp);
    database.change(claim.name(), end);
    end.afterwards();
    return CompletableFuture.completedFuture(new Ended(end.outcome, end.isFinal, end.othersWait));
  }

  /** One end of a claim, as a change of the record. */
  private final class End extends Settling implements MemoryDatabase.Change {
    private final Claim claim;
    private final Duration keepFor;
    private final Instant lastGiveUp;
    private Ended.Outcome outcome = Ended.Outcome.NOT_THERE;
    private boolean isFinal;
    private boolean othersWait;

    End(Claim claim, Duration keepFor, Instant lastGiveUp) {
      super(claim.name());
      this.claim = claim;
      this.keepFor = keepFor;
      this.lastGiveUp = lastGiveUp;
    }

    @Override
    public @Nullable MemoryRecord apply(@Nullable MemoryRecord record) {
      long now = database.nowNanos();
      isFinal = MemoryDatabase.timeAt(now).isAfter(lastGiveUp);
      if (record == null) {
        return null;
      }
      record.expire(now);
      othersWait = record.othersWait(claim.id().client());
      if (record.isHeldBy(claim)) {
        outcome = Ended.Outcome.RELEASED;
        record.release(keepFor, now);
      } else if (record.forget(claim.id())) {
        outcome = Ended.Outcome.WITHDRAWN;
      }
      return settle(record, now);
    }
  }

  @Override
  public CompletionStage<Map<ClaimId, LockKey>> own() {
    return CompletableFuture.completedFuture(database.claimsOf(runtime().client()));
  }

  @Override
  public CompletionStage<Optional<LockInfo>> inspect(LockKey key) {
    return CompletableFuture.completedFuture(database.describe(key));
  }

  @Override
  public Waiters waitersOfFreeLock() {
    return Waiters.exactly(0);
  }

  @Override
  public CompletionStage<LockPage> list(String prefix, Optional<String> page) {
    List<LockInfo> all = new ArrayList<>();
    database.keys().stream()
        .filter(key -> key.name().startsWith(prefix))
        .sorted(Comparator.comparing(LockKey::bytes, java.util.Arrays::compareUnsigned))
        .forEach(key -> database.describe(key).ifPresent(all::add));
    return CompletableFuture.completedFuture(new LockPage(all, Optional.empty()));
  }

  @Override
  public CompletionStage<Boolean> evict(LockKey key, long revision) {
    boolean[] evicted = {false};
    Settling settling = new Settling(key);
    database.change(key, record -> {
      if (record == null) {
        return null;
      }
      long now = database.nowNanos();
      if (!record.expire(now) && record.revision() == revision) {
        evicted[0] = true;
        record.evict();
      }
      return settling.settle(record, now);
    });
    settling.afterwards();
    return CompletableFuture.completedFuture(evicted[0]);
  }

  @Override
  public CompletionStage<List<Finding>> diagnose() {
    return CompletableFuture.completedFuture(List.of(new Finding(
        Finding.Level.WARNING,
        "reach",
        "locks in memory exclude only this process",
        "use sqlite:PATH between processes of one machine")));
  }

  @Override
  public List<String> schema() {
    return List.of();
  }

  @Override
  public void close() {
    // what this client still holds ends with its lease, as on any store
  }

  private StoreRuntime runtime() {
    return Objects.requireNonNull(runtime, "start() comes first");
  }

  private StoreEvents events() {
    return Objects.requireNonNull(events, "start() comes first");
  }
}
