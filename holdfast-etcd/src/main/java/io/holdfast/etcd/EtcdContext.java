// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
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
import java.util.Set;
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

  /** A key without its value. */
  static final GetOption KEY = GetOption.builder().withKeysOnly(true).build();

  final EtcdCalls calls;
  final EtcdKeys keys;
  final EtcdClock clock;
  final StoreRuntime runtime;
  final StoreEvents events;
  final EtcdLease waiting;

  /** Locks that were busy when this process last entered their queue: the next claim is put as a waiter's at once. */
  final Set<LockKey> busy = ConcurrentHashMap.newKeySet();

  private final Map<Long, EtcdLease> leases = new ConcurrentHashMap<>();
  private final Map<ClaimId, EtcdClaim> claims = new ConcurrentHashMap<>();

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

  EtcdClaim claim(Claim claim) {
    return claims.computeIfAbsent(
        claim.id(), id -> new EtcdClaim(claim, keys.claim(claim.name(), id), clock.wall()));
  }

  Optional<EtcdClaim> known(ClaimId id) {
    return Optional.ofNullable(claims.get(id));
  }

  void forget(EtcdClaim claim) {
    claims.remove(claim.claim.id(), claim);
  }

  /** Closes what waits. */
  void close() {
    claims.values().forEach(EtcdClaim::stopWaiting);
  }

  static Op put(EtcdClaim claim, EtcdLease.Term term) {
    return Op.put(
        claim.key,
        claim.value,
        PutOption.builder().withLeaseId(term.id).withPrevKV().build());
  }

  /** The claim's key is the one that was seen. */
  static Cmp isThere(EtcdClaim claim) {
    return new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(claim.revision()));
  }

  /**
   * Puts a claim's key under another lease, if it is still there. Its place in the queue stays.
   *
   * @return the lease that it is under now; empty if the key is gone
   */
  CompletableFuture<Optional<EtcdLease.Term>> move(EtcdClaim claim, EtcdLease to) {
    return to.young().thenCompose(term -> move(claim, to, term));
  }

  private CompletableFuture<Optional<EtcdLease.Term>> move(
      EtcdClaim claim, EtcdLease to, EtcdLease.Term term) {
    return calls
        .txn(List.of(isThere(claim)), List.of(put(claim, term)), List.of())
        .thenApply(done -> moved(claim, term, done))
        .exceptionallyCompose(failure -> {
          if (EtcdLease.isGone(failure)) {
            term.gone();
            return move(claim, to);
          }
          return CompletableFuture.failedFuture(failure);
        });
  }

  private static Optional<EtcdLease.Term> moved(
      EtcdClaim claim, EtcdLease.Term term, TxnResponse done) {
    if (!done.isSucceeded()) {
      return Optional.empty();
    }
    claim.under(term);
    return Optional.of(term);
  }

  ByteSequence queue(EtcdClaim claim) {
    return keys.queue(claim.claim.name());
  }

  void later(Duration after, Runnable task) {
    runtime.scheduler().schedule(task, after.toNanos());
  }
}
