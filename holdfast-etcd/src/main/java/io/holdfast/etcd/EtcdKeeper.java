// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps claims: renews each lease that they are under once, however many there are, the waiters' one if it was not renewed a
 * moment ago, and looks at their keys, because an operator may have deleted a key whose lease lives. A claim that holds a lock
 * and is still under the waiters' lease gets its own.
 *
 * <p>While a claim's key is unchanged, and the key ahead of a waiter's is there, its place is what it was: one transaction
 * compares the keys of many claims, and counts the queues of those that hold. Only for a claim whose place is not known any
 * more, and that does not wait, is its queue read, which the server reads whole to find the first.
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
    Round round = new Round();
    for (Claim each : claims) {
      context
          .known(each.id())
          .ifPresentOrElse(round::add, () -> round.kept.put(each.id(), new Kept.Gone()));
    }
    return round.end();
  }

  /** A claim, and what was known of its key when it was asked for. */
  private record Placed(EtcdClaim claim, EtcdPlace.Known place) {}

  /** A claim, and what was read of its key, by the create revision. */
  private record Judged(EtcdClaim claim, long revision, boolean isFirst, boolean othersWait) {}

  /** What is asked for together. */
  private final class Round {
    private final Map<ClaimId, Kept> kept = new ConcurrentHashMap<>();
    private final Map<EtcdLease.Term, CompletableFuture<Renewed>> renewals = new HashMap<>();
    private final List<Placed> placed = new ArrayList<>();
    private final List<EtcdClaim> unplaced = new ArrayList<>();

    void add(EtcdClaim claim) {
      EtcdLease.Term term = claim.place.term();
      if (term != null) {
        // a waiter is promised nothing, and many of them are refreshed one by one
        boolean isRenewed = term == context.waiting.current() && term.isYoung();
        renewals.computeIfAbsent(
            term,
            shared -> isRenewed ? CompletableFuture.completedFuture(Renewed.YES) : renew(shared));
      }
      claim
          .place
          .known()
          .ifPresentOrElse(
              place -> placed.add(new Placed(claim, place)), () -> unplaced.add(claim));
    }

    CompletableFuture<Map<ClaimId, Kept>> end() {
      return all(List.of(inBatches(placed, this::compare), inBatches(unplaced, this::find)))
          .thenApply(nothing -> Map.copyOf(kept));
    }

    /** Has the claims' keys compared with what is known of them; where any of them differs, they are read. */
    private CompletableFuture<?> compare(List<Placed> batch) {
      List<Cmp> unchanged = new ArrayList<>();
      List<Op> counts = new ArrayList<>();
      List<Op> looks = new ArrayList<>();
      for (Placed each : batch) {
        ByteSequence key = each.claim().key;
        unchanged.add(
            new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(each.place().modified())));
        looks.add(Op.get(key, GetOption.DEFAULT));
        EtcdPlace.Ahead ahead = each.place().ahead();
        if (ahead == null) {
          Op count = Op.get(context.queue(each.claim()), EtcdContext.COUNT);
          counts.add(count);
          looks.add(count);
        } else {
          unchanged.add(EtcdContext.isThere(ahead));
          looks.add(Op.get(ahead.key(), EtcdContext.KEY));
        }
      }
      return answered(context
          .calls
          .txn(unchanged, counts, looks)
          .thenCompose(seen -> seen.isSucceeded()
              ? unchanged(batch, seen.getGetResponses())
              : changed(batch, seen.getGetResponses())));
    }

    private CompletableFuture<Void> unchanged(List<Placed> batch, List<GetResponse> counts) {
      List<CompletableFuture<?>> all = new ArrayList<>();
      int counted = 0;
      for (Placed each : batch) {
        EtcdPlace.Known place = each.place();
        boolean isFirst = place.ahead() == null;
        boolean othersWait = !isFirst || counts.get(counted++).getCount() > 1;
        all.add(keep(
            each.claim(),
            judge(each.claim(), place.revision(), place.modified(), isFirst, othersWait)));
      }
      return all(all);
    }

    private CompletableFuture<Void> changed(List<Placed> batch, List<GetResponse> looks) {
      List<CompletableFuture<?>> all = new ArrayList<>();
      List<EtcdClaim> toFind = new ArrayList<>();
      for (int i = 0; i < batch.size(); i++) {
        EtcdClaim claim = batch.get(i).claim();
        EtcdPlace.Known place = batch.get(i).place();
        EtcdPlace.Ahead ahead = place.ahead();
        GetResponse own = looks.get(2 * i);
        GetResponse other = looks.get(2 * i + 1);
        if (ahead != null && isThere(other, ahead.revision())) {
          all.add(keep(claim, judge(claim, own, false, true)));
        } else if (ahead == null && isThere(own, place.revision())) {
          all.add(keep(claim, judge(claim, own, true, other.getCount() > 1)));
        } else {
          toFind.add(claim);
        }
      }
      all.add(find(toFind));
      return all(all);
    }

    /** Reads the keys of claims whose place is not known, and the first of the queue of each that does not wait. */
    private CompletableFuture<?> find(List<EtcdClaim> batch) {
      if (batch.isEmpty()) {
        return all(List.of());
      }
      List<Op> looks = new ArrayList<>();
      Map<EtcdClaim, Integer> queues = new HashMap<>();
      batch.forEach(each -> looks.add(Op.get(each.key, GetOption.DEFAULT)));
      for (EtcdClaim each : batch) {
        // one that waits looks for its place itself, and shares what that costs
        if (!each.isWaiting()) {
          queues.put(each, looks.size());
          looks.add(Op.get(context.queue(each), EtcdContext.FIRST_KEY));
        }
      }
      return answered(context
          .calls
          .txn(List.of(), looks, List.of())
          .thenCompose(seen -> found(batch, queues, seen.getGetResponses())));
    }

    private CompletableFuture<Void> found(
        List<EtcdClaim> batch, Map<EtcdClaim, Integer> queues, List<GetResponse> looks) {
      List<CompletableFuture<?>> all = new ArrayList<>();
      for (int i = 0; i < batch.size(); i++) {
        EtcdClaim claim = batch.get(i);
        Integer at = queues.get(claim);
        GetResponse queue = at == null ? null : looks.get(at);
        boolean isFirst = queue != null
            && queue.getKvs().stream().anyMatch(first -> first.getKey().equals(claim.key));
        boolean othersWait = queue == null || queue.getCount() > 1;
        all.add(keep(claim, judge(claim, looks.get(i), isFirst, othersWait)));
        if (!isFirst) {
          // with what is ahead of it, its place is known again
          claim.look();
        }
      }
      return all(all);
    }

    private CompletableFuture<?> keep(EtcdClaim claim, CompletableFuture<Kept> judged) {
      return judged.thenAccept(answer -> kept.put(claim.claim.id(), answer));
    }

    private CompletableFuture<Kept> judge(
        EtcdClaim claim, GetResponse own, boolean isFirst, boolean othersWait) {
      if (own.getKvs().isEmpty()) {
        claim.stopWaiting();
        return answer(new Kept.Gone());
      }
      KeyValue there = own.getKvs().get(0);
      claim.place.seen(there);
      if (there.getCreateRevision() != claim.place.revision()) {
        // that key has gone, and there is another one since
        return answer(new Kept.Unknown());
      }
      return judge(claim, there.getCreateRevision(), there.getModRevision(), isFirst, othersWait);
    }

    private CompletableFuture<Kept> judge(
        EtcdClaim claim, long revision, long modified, boolean wasFirst, boolean othersWait) {
      boolean isFirst = wasFirst || claim.place.isFirst();
      Judged judged = new Judged(claim, revision, isFirst, othersWait);
      EtcdLease lease = isFirst ? context.lease(claim.claim.lease()) : context.waiting;
      if (isFirst && !claim.place.first(revision, context.runtime.ticker().now())) {
        return answer(new Kept.Unknown());
      }
      EtcdLease.Term term = claim.place.settledAt(modified);
      CompletableFuture<Renewed> renewal = term == null ? null : renewals.get(term);
      if (term == null || renewal == null || (isFirst && term != lease.current())) {
        return move(judged, lease);
      }
      return renewal.thenCompose(renewed -> switch (renewed) {
        case YES -> answer(renewed(judged, term, modified));
        case GONE ->
          answer(claim.place.settledAt(modified) == term ? new Kept.Gone() : new Kept.Unknown());
        case UNKNOWN -> answer(new Kept.Unknown());
      });
    }

    private Kept renewed(Judged judged, EtcdLease.Term term, long modified) {
      // read before the lease is known to be settled still: a move that is noted later looks at what was promised until then
      Moment anchor = term.anchor();
      return judged.claim().place.settledAt(modified) == term
          ? kept(judged, anchor)
          : new Kept.Unknown();
    }
  }

  /** Whether the key that was read is the one made in that revision: it may have been deleted, and made again behind others. */
  private static boolean isThere(GetResponse read, long made) {
    return read.getKvs().stream().anyMatch(key -> key.getCreateRevision() == made);
  }

  private static <T> CompletableFuture<?> inBatches(
      List<T> claims, Function<List<T>, CompletableFuture<?>> ask) {
    List<CompletableFuture<?>> batches = new ArrayList<>();
    for (int from = 0; from < claims.size(); from += BATCH) {
      batches.add(ask.apply(claims.subList(from, Math.min(from + BATCH, claims.size()))));
    }
    return all(batches);
  }

  private static CompletableFuture<Void> all(List<CompletableFuture<?>> each) {
    return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new));
  }

  /** A missing answer is an unknown one. */
  private static CompletableFuture<?> answered(CompletableFuture<?> asked) {
    return asked.handle((answer, failure) -> true);
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

  private CompletableFuture<Kept> move(Judged judged, EtcdLease lease) {
    EtcdPlace place = judged.claim().place;
    return context
        .move(judged.claim(), judged.revision(), lease)
        .thenApply(moved -> {
          if (moved.isPresent()) {
            return kept(judged, moved.get().anchor());
          }
          // its turn came meanwhile, or it has another key: what was read is of the past
          boolean isPast =
              place.revision() != judged.revision() || (!judged.isFirst() && place.isFirst());
          return isPast ? new Kept.Unknown() : new Kept.Gone();
        })
        .exceptionally(failure -> new Kept.Unknown());
  }

  private Kept kept(Judged judged, Moment anchor) {
    EtcdClaim claim = judged.claim();
    if (judged.isFirst()) {
      claim.stopWaiting();
      return new Kept.Held(
          new Grant(judged.revision(), anchor, claim.claim.lease(), judged.othersWait()));
    }
    claim.startWaiting(context).ifPresent(EtcdWait::begin);
    return new Kept.Queued();
  }

  private static CompletableFuture<Kept> answer(Kept kept) {
    return CompletableFuture.completedFuture(kept);
  }
}
