// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps claims: renews each lease that they are under once, however many there are, and reads their keys and who is first
 * in their queues, because an operator may have deleted a key whose lease lives. A claim that holds a lock and is still
 * under the waiters' lease gets its own.
 */
final class EtcdKeeper {
  /** The server takes 128 operations in a transaction by default. */
  private static final int BATCH = 60;

  private final EtcdContext context;

  EtcdKeeper(EtcdContext context) {
    this.context = context;
  }

  /** How a renewal ended. */
  private enum Renewed {
    YES,
    GONE,
    UNKNOWN
  }

  CompletableFuture<Map<ClaimId, Kept>> keep(List<Claim> claims) {
    Map<ClaimId, Kept> kept = new ConcurrentHashMap<>();
    List<EtcdClaim> known = new ArrayList<>();
    for (Claim each : claims) {
      context
          .known(each.id())
          .ifPresentOrElse(known::add, () -> kept.put(each.id(), new Kept.Gone()));
    }
    Map<EtcdLease.Term, CompletableFuture<Renewed>> renewals = new HashMap<>();
    for (EtcdClaim each : known) {
      EtcdLease.Term term = each.place.term();
      if (term != null) {
        renewals.computeIfAbsent(term, EtcdKeeper::renew);
      }
    }
    List<CompletableFuture<?>> batches = new ArrayList<>();
    for (int from = 0; from < known.size(); from += BATCH) {
      List<EtcdClaim> batch = known.subList(from, Math.min(from + BATCH, known.size()));
      batches.add(keep(batch, renewals, kept));
    }
    return CompletableFuture.allOf(batches.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> Map.copyOf(kept));
  }

  private static CompletableFuture<Renewed> renew(EtcdLease.Term term) {
    return term.renew().handle((moment, failure) -> outcome(failure));
  }

  private static Renewed outcome(@Nullable Throwable failure) {
    if (failure == null) {
      return Renewed.YES;
    }
    return EtcdLease.isGone(failure) ? Renewed.GONE : Renewed.UNKNOWN;
  }

  private CompletableFuture<?> keep(
      List<EtcdClaim> batch,
      Map<EtcdLease.Term, CompletableFuture<Renewed>> renewals,
      Map<ClaimId, Kept> kept) {
    List<Op> looks = new ArrayList<>();
    for (EtcdClaim each : batch) {
      looks.add(Op.get(each.key, EtcdContext.KEY));
      looks.add(Op.get(context.queue(each), EtcdContext.FIRST_KEY));
    }
    return context
        .calls
        .txn(List.of(), looks, List.of())
        .thenCompose(seen -> {
          List<CompletableFuture<?>> each = new ArrayList<>();
          for (int i = 0; i < batch.size(); i++) {
            EtcdClaim claim = batch.get(i);
            each.add(judge(claim, seen, 2 * i, renewals)
                .thenAccept(answer -> kept.put(claim.claim.id(), answer)));
          }
          return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new));
        })
        // a missing answer is an unknown one
        .exceptionally(failure -> null);
  }

  private CompletableFuture<Kept> judge(
      EtcdClaim claim,
      TxnResponse seen,
      int at,
      Map<EtcdLease.Term, CompletableFuture<Renewed>> renewals) {
    List<KeyValue> own = seen.getGetResponses().get(at).getKvs();
    if (own.isEmpty()) {
      claim.stopWaiting();
      return answer(new Kept.Gone());
    }
    KeyValue there = own.get(0);
    claim.place.seen(there);
    if (there.getCreateRevision() != claim.place.revision()) {
      // that key has gone, and there is another one since
      return answer(new Kept.Unknown());
    }
    GetResponse queue = seen.getGetResponses().get(at + 1);
    boolean isFirst = queue.getKvs().get(0).getKey().equals(claim.key) || claim.place.isFirst();
    boolean othersWait = queue.getCount() > 1;
    EtcdLease lease = isFirst ? context.lease(claim.claim.lease()) : context.waiting;
    if (isFirst
        && !claim.place.first(
            there.getCreateRevision(), context.runtime.ticker().now())) {
      return answer(new Kept.Unknown());
    }
    EtcdLease.Term term = claim.place.settled(there);
    CompletableFuture<Renewed> renewal = term == null ? null : renewals.get(term);
    if (term == null || renewal == null || (isFirst && term != lease.current())) {
      return move(claim, lease, isFirst, othersWait);
    }
    EtcdLease.Term under = term;
    return renewal.thenCompose(renewed -> switch (renewed) {
      case YES -> answer(kept(claim, under, isFirst, othersWait));
      case GONE -> answer(new Kept.Gone());
      case UNKNOWN -> answer(new Kept.Unknown());
    });
  }

  private CompletableFuture<Kept> move(
      EtcdClaim claim, EtcdLease lease, boolean isFirst, boolean othersWait) {
    return context
        .move(claim, lease)
        .thenApply(moved -> {
          if (moved.isPresent()) {
            return kept(claim, moved.get(), isFirst, othersWait);
          }
          // its turn came meanwhile: what was read is of the past
          return !isFirst && claim.place.isFirst() ? new Kept.Unknown() : new Kept.Gone();
        })
        .exceptionally(failure -> new Kept.Unknown());
  }

  private Kept kept(EtcdClaim claim, EtcdLease.Term term, boolean isFirst, boolean othersWait) {
    if (isFirst) {
      claim.stopWaiting();
      Moment anchor = term.anchor();
      return new Kept.Held(
          new Grant(claim.place.revision(), anchor, claim.claim.lease(), othersWait));
    }
    claim.startWaiting(context).ifPresent(wait -> wait.begin(null));
    return new Kept.Queued();
  }

  private static CompletableFuture<Kept> answer(Kept kept) {
    return CompletableFuture.completedFuture(kept);
  }
}
