// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** What the parts of a started store share: the client, the clocks, the leases, and the claims that are not over. */
final class EtcdContext {
  /** How long a queued claim lasts without being refreshed, and a pushed grant. */
  static final Duration WAITER_LEASE = Duration.ofSeconds(5);

  /** The oldest key of a lock, whose claim holds it. */
  static final GetOption FIRST = GetOption.builder()
      .isPrefix(true)
      .withSortField(GetOption.SortTarget.CREATE)
      .withSortOrder(GetOption.SortOrder.ASCEND)
      .withLimit(1)
      .build();

  /** The same without its value. */
  static final GetOption FIRST_KEY = GetOption.builder()
      .isPrefix(true)
      .withSortField(GetOption.SortTarget.CREATE)
      .withSortOrder(GetOption.SortOrder.ASCEND)
      .withLimit(1)
      .withKeysOnly(true)
      .build();

  /** How many keys a queue has: the server counts in its index, and sorts nothing. */
  static final GetOption COUNT =
      GetOption.builder().isPrefix(true).withLimit(1).withKeysOnly(true).build();

  /** A key without its value: etcd 3.7 leaves out its lease, too, so that a claim's own key is read whole. */
  static final GetOption KEY = GetOption.builder().withKeysOnly(true).build();

  /**
   * To find a queue's first or last key a member reads the whole queue; in a transaction that also writes, every member does.
   * A longer queue is read in a transaction of its own.
   */
  private static final long SHORT = 32;

  /** More are not remembered: they only save requests. */
  private static final int MOST_BUSY = 10_000;

  final EtcdCalls calls;
  final EtcdKeys keys;
  final EtcdClock clock;
  final StoreRuntime runtime;
  final StoreEvents events;
  final EtcdLease waiting;
  final EtcdSeats seats = new EtcdSeats();
  final EtcdQueues queues = new EtcdQueues(this, EtcdQueues.LISTED, EtcdQueues.PATIENCE);

  /** How many claims of a lock there were, where there were others. */
  private final Map<LockKey, Long> queueLengths = new ConcurrentHashMap<>();

  private final Map<Long, EtcdLease> leases = new ConcurrentHashMap<>();
  private final Map<ClaimId, EtcdClaim> claims = new ConcurrentHashMap<>();
  private volatile boolean closed;

  EtcdContext(EtcdCalls calls, EtcdKeys keys, StoreRuntime runtime, StoreEvents events) {
    this.calls = calls;
    this.keys = keys;
    this.clock = new EtcdClock(runtime.ticker());
    this.runtime = runtime;
    this.events = events;
    this.waiting = new EtcdLease(calls, runtime.ticker(), WAITER_LEASE.toSeconds());
  }

  /** Returns the lease for holds of this length. */
  EtcdLease lease(Duration length) {
    return leases.computeIfAbsent(
        EtcdLease.seconds(length), seconds -> new EtcdLease(calls, runtime.ticker(), seconds));
  }

  /** Returns all leases that claims of this client may be under. */
  List<EtcdLease> leases() {
    List<EtcdLease> all = new ArrayList<>(leases.values());
    all.add(waiting);
    return all;
  }

  /**
   * Returns a claim that is to be ended. One that is not known is a key that was found and is nobody's.
   *
   * @return empty if there is nothing to end: what it had is another claim's key, or will be
   */
  Optional<EtcdClaim> toEnd(Claim claim) {
    EtcdClaim mine = claims.compute(claim.id(), (id, known) -> {
      EtcdClaim found = known == null ? forgotten(claim).orElse(null) : known;
      if (found != null) {
        // counted before anybody can take it for the only one
        found.end(runtime.ticker().nanos());
      }
      return found;
    });
    if (mine != null) {
      mine.stopWaiting();
    }
    return Optional.ofNullable(mine);
  }

  private Optional<EtcdClaim> forgotten(Claim claim) {
    ClaimId id = claim.id();
    EtcdSeats.Seat seat =
        seats.left(id).orElseGet(() -> new EtcdSeats.Seat(claim.name(), id.number()));
    if (!seats.isNobodys(seat)) {
      return Optional.empty();
    }
    return Optional.of(new EtcdClaim(claim, null, key(seat), clock.wall()));
  }

  private EtcdClaim make(Claim claim) {
    EtcdSeats.Seat seat = seats.take(claim.name(), claim.id());
    return new EtcdClaim(claim, seat, key(seat), clock.wall());
  }

  private ByteSequence key(EtcdSeats.Seat seat) {
    return keys.claim(seat.name(), new ClaimId(runtime.client(), seat.number()));
  }

  /** The claim is to be attempted: it is not forgotten until {@link #answered}. */
  EtcdClaim asking(Claim claim) {
    return claims.compute(claim.id(), (id, known) -> {
      EtcdClaim mine = known == null ? make(claim) : known;
      mine.asked++;
      return mine;
    });
  }

  /**
   * An attempt was answered.
   *
   * @param nobodyEndsIt whether the claim may be over with it: then it is forgotten, if nothing of it is there
   */
  void answered(EtcdClaim mine, boolean nobodyEndsIt) {
    claims.computeIfPresent(mine.claim.id(), (id, known) -> {
      if (known != mine) {
        return known;
      }
      mine.asked--;
      if (!nobodyEndsIt || mine.asked > 0 || !mine.leftNothing()) {
        return mine;
      }
      leave(mine, true);
      return null;
    });
  }

  Optional<EtcdClaim> known(ClaimId id) {
    return Optional.ofNullable(claims.get(id));
  }

  /**
   * A claim is over.
   *
   * @param nothingComes whether its key is gone, and every request that could touch it was answered, but for attempts and
   *     other ends
   */
  void forget(EtcdClaim claim, boolean nothingComes) {
    claims.computeIfPresent(claim.claim.id(), (id, known) -> {
      if (known != claim) {
        return known;
      }
      leave(claim, nothingComes && claim.asked == 0 && claim.isEndedOnce());
      return null;
    });
  }

  private void leave(EtcdClaim claim, boolean nothingComes) {
    if (claim.seat != null) {
      // before the key is another claim's
      claim.place.over();
      seats.leave(claim.seat, nothingComes);
    }
  }

  /** How many claims are remembered. */
  int remembered() {
    return claims.size();
  }

  /** The claims whose end the engine has given up. */
  List<EtcdClaim> givenUp() {
    long now = runtime.ticker().nanos();
    return claims.values().stream()
        .filter(
            each -> each.isEndingFor(runtime.endsRepeatedFor(each.claim.lease()).toNanos(), now))
        .toList();
  }

  /** Notes how many claims of a lock there were when this process last asked: if several, the next one is put as a waiter's. */
  void wanted(LockKey name, long queueLength) {
    if (queueLength <= 1) {
      queueLengths.remove(name);
    } else if (queueLengths.size() < MOST_BUSY || queueLengths.containsKey(name)) {
      queueLengths.put(name, queueLength);
    } else {
      queueLengths.clear();
    }
  }

  boolean isLikelyBusy(LockKey name) {
    return queueLengths.containsKey(name);
  }

  /** Whether it is likely busy, and its queue so short that the members may read it while they apply a transaction. */
  boolean isShortQueue(LockKey name) {
    return queueLengths.getOrDefault(name, Long.MAX_VALUE) <= SHORT;
  }

  /** The last key before the one that was made in this revision. */
  static GetOption lastBefore(long revision) {
    return GetOption.builder()
        .isPrefix(true)
        .withSortField(GetOption.SortTarget.CREATE)
        .withSortOrder(GetOption.SortOrder.DESCEND)
        .withMaxCreateRevision(revision - 1)
        .withLimit(1)
        .withKeysOnly(true)
        .build();
  }

  /** Closes what waits; nothing waits any more. */
  void close() {
    closed = true;
    claims.values().forEach(EtcdClaim::stopWaiting);
  }

  boolean isClosed() {
    return closed;
  }

  static Op put(EtcdClaim claim, EtcdLease.Term term) {
    return Op.put(
        claim.key, claim.value, PutOption.builder().withLeaseId(term.id).build());
  }

  /** The key ahead is the one that was seen. */
  static Cmp isThere(EtcdPlace.Ahead ahead) {
    return new Cmp(ahead.key(), Cmp.Op.EQUAL, CmpTarget.createRevision(ahead.revision()));
  }

  /** The claim's key is the one that was seen. */
  static Cmp isThere(EtcdClaim claim) {
    return new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(claim.place.revision()));
  }

  /**
   * Puts a claim's key under another lease, if it is still there. Its place in the queue stays. A move that comes behind a
   * later change of the key is not applied, but made anew for what is there then.
   *
   * @param created the key's create revision: another key of the claim is not moved in its place
   * @return the lease that it is under now; empty if the key is gone or kept, if another one is known by now, or if it is no
   *     waiter's and to be put under their lease
   */
  CompletableFuture<Optional<EtcdLease.Term>> move(EtcdClaim claim, long created, EtcdLease to) {
    return young(claim, to)
        .thenCompose(term -> claim
            .place
            .moving(created, term, to == waiting)
            .map(move -> {
              // once more, now that the move is noted and nothing more is promised of the other lease
              if (to != waiting && !term.lasts(promised(claim))) {
                claim.place.notMoved(move);
                return move(claim, created, to);
              }
              return move(claim, to, move);
            })
            .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty())));
  }

  /**
   * Returns a lease to move a key under. A hold may have been promised what is left of the lease that its key is under now:
   * should the move's answer be lost, the other one must not end before that.
   */
  private CompletableFuture<EtcdLease.Term> young(EtcdClaim claim, EtcdLease to) {
    return to == waiting ? to.young() : to.lasting(promised(claim));
  }

  private static long promised(EtcdClaim claim) {
    EtcdLease.Term from = claim.place.term();
    return from == null ? Long.MIN_VALUE : from.promisedUntil(claim.claim.lease());
  }

  private CompletableFuture<Optional<EtcdLease.Term>> move(
      EtcdClaim claim, EtcdLease to, EtcdPlace.Move move) {
    return calls
        .txn(
            List.of(
                new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(move.revision)),
                new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.modRevision(move.modified))),
            List.of(put(claim, move.term)),
            List.of(Op.get(claim.key, GetOption.DEFAULT)))
        .whenComplete((done, failure) -> {
          if (failure != null && (EtcdLease.isGone(failure) || EtcdErrors.isNotApplied(failure))) {
            claim.place.notMoved(move);
          }
        })
        .thenCompose(done -> moved(claim, to, move, done))
        .exceptionallyCompose(failure -> {
          if (EtcdLease.isGone(failure)) {
            move.term.gone();
            return move(claim, move.revision, to);
          }
          return EtcdErrors.isFull(failure)
              ? full(claim, move, failure)
              : CompletableFuture.failedFuture(failure);
        });
  }

  /** There was no space for the move: it was applied all the same, or was not and will not be. */
  private CompletableFuture<Optional<EtcdLease.Term>> full(
      EtcdClaim claim, EtcdPlace.Move move, Throwable failure) {
    return calls.get(claim.key, GetOption.DEFAULT).thenCompose(seen -> {
      boolean moved = false;
      for (KeyValue there : seen.getKvs()) {
        // first, so that no renewal of the former lease is promised of it
        claim.place.seen(there, move.term);
        claim.place.notMoved(move);
        moved = there.getCreateRevision() == move.revision
            && claim.place.settledAt(there.getModRevision()) == move.term;
      }
      claim.place.notMoved(move);
      return moved
          ? CompletableFuture.completedFuture(Optional.of(move.term))
          : CompletableFuture.failedFuture(failure);
    });
  }

  private CompletableFuture<Optional<EtcdLease.Term>> moved(
      EtcdClaim claim, EtcdLease to, EtcdPlace.Move move, TxnResponse done) {
    if (done.isSucceeded()) {
      boolean isThere = claim.place.moved(move, done.getHeader().getRevision());
      return CompletableFuture.completedFuture(isThere ? Optional.of(move.term) : Optional.empty());
    }
    claim.place.notMoved(move);
    List<KeyValue> there = done.getGetResponses().get(0).getKvs();
    if (there.isEmpty()
        || there.get(0).getCreateRevision() != move.revision
        || EtcdValue.read(claim.key, there.get(0).getValue()).kind() == EtcdValue.Kind.KEPT) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    claim.place.seen(there.get(0), move.term);
    return move(claim, move.revision, to);
  }

  ByteSequence queue(EtcdClaim claim) {
    return keys.queue(claim.claim.name());
  }

  void later(Duration after, Runnable task) {
    runtime.scheduler().schedule(task, after.toNanos());
  }
}
