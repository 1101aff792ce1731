// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.PutResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Ends claims: one transaction counts the queue and deletes the claim's key. While an attempt of the claim has had no
 * answer, the same transaction raises the epoch of the lease that it puts the key under, so that it is not applied behind
 * the end.
 *
 * <p>A hold that is kept has its key put under a lease of its own, which nobody renews. Its place stays the first.
 */
final class EtcdEnding {
  /** The queue was not counted: others may wait. */
  private static final long OTHERS_MAY_WAIT = 2;

  private final EtcdContext context;

  EtcdEnding(EtcdContext context) {
    this.context = context;
  }

  CompletableFuture<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    Optional<EtcdClaim> known = context.toEnd(claim);
    if (known.isEmpty()) {
      // it has ended before, and left nothing
      return CompletableFuture.completedFuture(
          new Ended(Outcome.NOT_THERE, context.clock.isPast(lastGiveUp), false));
    }
    EtcdClaim mine = known.get();
    if (keepFor.isZero()) {
      return mine.seat == null ? deleteForgotten(mine, lastGiveUp) : delete(mine, lastGiveUp);
    }
    // by the store's time, which does not step: a wall clock that does must not let the lock go early
    Duration left = mine.place
        .grantedBefore()
        .map(moment -> keepFor.minusNanos(context.runtime.ticker().nanos() - moment.nanos()))
        .orElse(keepFor);
    if (left.isNegative() || left.isZero()) {
      return delete(mine, lastGiveUp);
    }
    return context
        .calls
        .get(mine.key, GetOption.DEFAULT)
        .thenCompose(seen -> keep(mine, seen, left, lastGiveUp));
  }

  private CompletableFuture<Ended> keep(
      EtcdClaim mine, GetResponse seen, Duration left, Instant lastGiveUp) {
    if (seen.getKvs().isEmpty()) {
      return delete(mine, lastGiveUp);
    }
    KeyValue there = seen.getKvs().get(0);
    if (isKept(mine, there)) {
      // an earlier end did that, called off what was open, and its answer was lost
      return wasKept(mine, lastGiveUp);
    }
    mine.place.seen(there);
    Instant now = context.clock.wall();
    ByteSequence value = EtcdValue.kept(mine.since, now.plus(left)).write();
    return keptUnder(mine, left).thenCompose(lease -> {
      Op put = Op.put(mine.key, value, PutOption.builder().withLeaseId(lease).build());
      return end(mine, List.of(EtcdContext.isThere(mine)), put, lastGiveUp)
          .whenComplete((ended, failure) -> {
            if (failure != null && EtcdLease.isGone(failure)) {
              // the end that is repeated begins another one
              mine.keptUnder(0);
            }
          });
    });
  }

  private static boolean isKept(EtcdClaim mine, KeyValue there) {
    return EtcdValue.read(mine.key, there.getValue()).kind() == EtcdValue.Kind.KEPT;
  }

  /** An earlier end keeps the lock; whether others wait was not looked at. */
  private CompletableFuture<Ended> wasKept(EtcdClaim mine, Instant lastGiveUp) {
    return over(mine, Outcome.RELEASED, OTHERS_MAY_WAIT, lastGiveUp, mine.open(), false);
  }

  /** Begins the lease that the lock is kept under, once: an end that is repeated uses it again. */
  private CompletableFuture<Long> keptUnder(EtcdClaim mine, Duration left) {
    long known = mine.keptUnder();
    return known != 0
        ? CompletableFuture.completedFuture(known)
        : context.calls.grant(EtcdLease.seconds(left)).thenApply(granted -> {
          mine.keptUnder(granted.getID());
          return granted.getID();
        });
  }

  private CompletableFuture<Ended> delete(EtcdClaim mine, Instant lastGiveUp) {
    return end(mine, List.of(), Op.delete(mine.key, DeleteOption.DEFAULT), lastGiveUp);
  }

  /**
   * Deletes the key of a claim that is forgotten. It may have been listed before an end that keeps the lock, in a list that
   * was answered after that: a kept lock's stays. One that has changed meanwhile is looked at again.
   */
  private CompletableFuture<Ended> deleteForgotten(EtcdClaim mine, Instant lastGiveUp) {
    return context.calls.get(mine.key, GetOption.DEFAULT).thenCompose(seen -> {
      if (seen.getKvs().stream().anyMatch(there -> isKept(mine, there))) {
        return wasKept(mine, lastGiveUp);
      }
      long modified = seen.getKvs().stream().mapToLong(KeyValue::getModRevision).sum();
      Cmp same = new Cmp(mine.key, Cmp.Op.EQUAL, CmpTarget.modRevision(modified));
      return end(mine, List.of(same), Op.delete(mine.key, DeleteOption.DEFAULT), lastGiveUp, true)
          .thenCompose(ended -> modified != 0 && ended.outcome() == Outcome.NOT_THERE
              ? deleteForgotten(mine, lastGiveUp)
              : CompletableFuture.completedFuture(ended));
    });
  }

  private CompletableFuture<Ended> end(
      EtcdClaim mine, List<Cmp> when, Op change, Instant lastGiveUp) {
    // what keeps the lock leaves a key
    return end(mine, when, change, lastGiveUp, when.isEmpty());
  }

  private CompletableFuture<Ended> end(
      EtcdClaim mine, List<Cmp> when, Op change, Instant lastGiveUp, boolean deletesIt) {
    Set<EtcdClaim.Sent> open = mine.open();
    Set<EtcdLease.Term> called = new LinkedHashSet<>();
    open.forEach(each -> called.add(each.term));
    List<Op> then = new ArrayList<>();
    // to find the first one, each member reads the whole queue: only for a claim whose place is not known
    boolean isPlaced = mine.place.known().isPresent();
    then.add(Op.get(context.queue(mine), isPlaced ? EtcdContext.COUNT : EtcdContext.FIRST_KEY));
    then.add(change);
    boolean nothingComes = deletesIt && open.isEmpty();
    // each epoch lives as long as its lease: when that is gone, its attempts are, too
    called.forEach(term -> then.add(raise(term)));
    return context
        .calls
        .txn(when, then, List.of())
        .thenCompose(done -> {
          raised(List.copyOf(called), done);
          Set<EtcdClaim.Sent> calledOff = done.isSucceeded() ? open : Set.of();
          return over(
              mine,
              outcome(mine, isPlaced, done),
              queueLength(done),
              lastGiveUp,
              calledOff,
              nothingComes);
        })
        .exceptionallyCompose(failure -> {
          if (!EtcdLease.isGone(failure) || called.isEmpty()) {
            return CompletableFuture.failedFuture(failure);
          }
          return alive(called).thenCompose(alive -> {
            if (alive.size() == called.size()) {
              // none of these: the one that the lock was to be kept under
              return CompletableFuture.failedFuture(failure);
            }
            open.stream().filter(each -> !alive.contains(each.term)).forEach(mine::settled);
            // what those have left goes with their leases, not with this
            return end(mine, when, change, lastGiveUp, false);
          });
        });
  }

  /** Returns those of the leases that have not ended. */
  private CompletableFuture<Set<EtcdLease.Term>> alive(Set<EtcdLease.Term> terms) {
    CompletableFuture<Set<EtcdLease.Term>> all =
        CompletableFuture.completedFuture(new LinkedHashSet<>());
    for (EtcdLease.Term each : terms) {
      all = all.thenCombine(context.calls.timeToLive(each.id), (alive, left) -> {
        // whole seconds: 0 in the last one, -1 when it has ended
        if (left.getTTL() >= 0) {
          alive.add(each);
        } else {
          each.gone();
        }
        return alive;
      });
    }
    return all;
  }

  private Op raise(EtcdLease.Term term) {
    return Op.put(
        context.keys.epoch(term.id),
        ByteSequence.EMPTY,
        PutOption.builder().withLeaseId(term.id).withPrevKV().build());
  }

  private static void raised(List<EtcdLease.Term> called, TxnResponse done) {
    if (!done.isSucceeded()) {
      return;
    }
    List<PutResponse> puts = done.getPutResponses();
    int first = puts.size() - called.size();
    for (int i = 0; i < called.size(); i++) {
      PutResponse put = puts.get(first + i);
      called.get(i).epoch = put.hasPrevKv() ? put.getPrevKv().getVersion() + 1 : 1;
    }
  }

  private static Outcome outcome(EtcdClaim mine, boolean isPlaced, TxnResponse done) {
    if (!done.isSucceeded()
        || done.getDeleteResponses().stream().anyMatch(gone -> gone.getDeleted() == 0)) {
      return Outcome.NOT_THERE;
    }
    boolean isFirst = isPlaced
        ? mine.place.isFirst()
        : done.getGetResponses().get(0).getKvs().get(0).getKey().equals(mine.key);
    return isFirst ? Outcome.RELEASED : Outcome.WITHDRAWN;
  }

  private static long queueLength(TxnResponse done) {
    return done.isSucceeded() ? done.getGetResponses().get(0).getCount() : 0;
  }

  private CompletableFuture<Ended> over(
      EtcdClaim mine,
      Outcome outcome,
      long queueLength,
      Instant lastGiveUp,
      Set<EtcdClaim.Sent> calledOff,
      boolean nothingComes) {
    mine.settled(calledOff);
    long unused = outcome == Outcome.NOT_THERE ? mine.keptUnder() : 0;
    if (unused != 0) {
      mine.keptUnder(0);
      context.calls.revoke(unused);
    }
    boolean none = mine.open().isEmpty();
    boolean isFinal = none && context.clock.isPast(lastGiveUp);
    if (none) {
      context.forget(mine, nothingComes);
    }
    context.wanted(mine.claim.name(), queueLength);
    return CompletableFuture.completedFuture(new Ended(outcome, isFinal, queueLength > 1));
  }
}
