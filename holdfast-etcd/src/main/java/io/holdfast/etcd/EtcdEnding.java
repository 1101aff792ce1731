// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.PutResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
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
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Ends claims: one transaction looks who is first and deletes the claim's key. While an attempt of the claim has had no
 * answer, the same transaction raises the epoch of the lease that it puts the key under, so that it is not applied behind
 * the end.
 *
 * <p>A hold that is kept has its key put under a lease of its own, which nobody renews. Its place stays the first.
 */
final class EtcdEnding {
  private final EtcdContext context;

  EtcdEnding(EtcdContext context) {
    this.context = context;
  }

  CompletableFuture<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    EtcdClaim mine = context.claim(claim);
    mine.end();
    if (keepFor.isZero()) {
      return delete(mine, lastGiveUp);
    }
    Duration left = mine.grantedBefore()
        .map(moment -> keepFor.minusNanos(context.runtime.ticker().elapsedNanos(moment)))
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
    if (EtcdValue.read(mine.key, there.getValue()).kind() == EtcdValue.Kind.KEPT) {
      // an earlier end did that, and its answer was lost
      return over(mine, Outcome.RELEASED, false, lastGiveUp, Set.of());
    }
    mine.revision(there.getCreateRevision());
    Instant now = context.clock.wall();
    ByteSequence value = EtcdValue.kept(mine.since, now.plus(left)).write();
    return context.calls.grant(EtcdLease.seconds(left)).thenCompose(own -> {
      Op put =
          Op.put(mine.key, value, PutOption.builder().withLeaseId(own.getID()).build());
      return end(mine, List.of(EtcdContext.isThere(mine)), put, lastGiveUp).thenApply(ended -> {
        if (ended.outcome() == Outcome.NOT_THERE) {
          context.calls.revoke(own.getID());
        }
        return ended;
      });
    });
  }

  private CompletableFuture<Ended> delete(EtcdClaim mine, Instant lastGiveUp) {
    return end(mine, List.of(), Op.delete(mine.key, DeleteOption.DEFAULT), lastGiveUp);
  }

  private CompletableFuture<Ended> end(
      EtcdClaim mine, List<Cmp> when, Op change, Instant lastGiveUp) {
    Set<EtcdClaim.Sent> open = mine.open();
    Set<EtcdLease.Term> called = new LinkedHashSet<>();
    open.forEach(each -> called.add(each.term));
    List<Op> then = new ArrayList<>();
    then.add(Op.get(context.queue(mine), EtcdContext.FIRST_KEY));
    then.add(Op.get(mine.key, EtcdContext.KEY));
    then.add(change);
    // each epoch lives as long as its lease: when that is gone, its attempts are, too
    called.forEach(term -> then.add(raise(term)));
    return context
        .calls
        .txn(when, then, List.of())
        .thenCompose(done -> {
          raised(List.copyOf(called), done);
          Set<EtcdClaim.Sent> calledOff = done.isSucceeded() ? open : Set.of();
          return over(mine, outcome(mine, done), othersWait(done), lastGiveUp, calledOff);
        })
        .exceptionallyCompose(failure -> {
          if (!EtcdLease.isGone(failure) || called.isEmpty()) {
            return CompletableFuture.failedFuture(failure);
          }
          return alive(called).thenCompose(alive -> {
            open.stream().filter(each -> !alive.contains(each.term)).forEach(mine::settled);
            return end(mine, when, change, lastGiveUp);
          });
        });
  }

  /** Returns those of the leases that have not ended. */
  private CompletableFuture<Set<EtcdLease.Term>> alive(Set<EtcdLease.Term> terms) {
    CompletableFuture<Set<EtcdLease.Term>> all =
        CompletableFuture.completedFuture(new LinkedHashSet<>());
    for (EtcdLease.Term each : terms) {
      all = all.thenCombine(context.calls.timeToLive(each.id, false), (alive, left) -> {
        if (left.getTTL() > 0) {
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

  private static Outcome outcome(EtcdClaim mine, TxnResponse done) {
    if (!done.isSucceeded() || done.getGetResponses().get(1).getKvs().isEmpty()) {
      return Outcome.NOT_THERE;
    }
    KeyValue first = done.getGetResponses().get(0).getKvs().get(0);
    return first.getKey().equals(mine.key) ? Outcome.RELEASED : Outcome.WITHDRAWN;
  }

  private static boolean othersWait(TxnResponse done) {
    return done.isSucceeded() && done.getGetResponses().get(0).getCount() > 1;
  }

  private CompletableFuture<Ended> over(
      EtcdClaim mine,
      Outcome outcome,
      boolean othersWait,
      Instant lastGiveUp,
      Set<EtcdClaim.Sent> calledOff) {
    mine.settled(calledOff);
    boolean none = mine.open().isEmpty();
    boolean isFinal = none && context.clock.isPast(lastGiveUp);
    if (none) {
      context.forget(mine);
    }
    if (!othersWait) {
      context.busy.remove(mine.claim.name());
    }
    return CompletableFuture.completedFuture(new Ended(outcome, isFinal, othersWait));
  }
}
