// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a lock: one transaction puts the claim's key and counts the queue: alone there, it holds the lock. Which claim
 * is first, and which one is right ahead, is read in the same transaction where the lock was busy last time and its queue
 * short, else in a second step. The claim with the oldest key holds the lock, so that the create revision, which is given
 * when the claim enters the queue, grows from grant to grant.
 *
 * <p>The transaction compares the lease's epoch: once that was raised, no earlier attempt is applied any more. An attempt
 * that fails only for that was not applied, and is repeated. It compares too that the claim has no key yet: one that is
 * there is never put again, so that an attempt without an answer changes neither its lease nor a lock that is kept.
 *
 * <p>A try looks first, and puts its key only into an empty queue. If somebody came between, the key is deleted again.
 * Another try that sees such a key looks again, because nobody may hold the lock.
 */
final class EtcdAttempt {
  private static final GetOption LAST_TWO = GetOption.builder()
      .isPrefix(true)
      .withSortField(GetOption.SortTarget.CREATE)
      .withSortOrder(GetOption.SortOrder.DESCEND)
      .withLimit(2)
      .withKeysOnly(true)
      .build();

  /** A try's key that is younger than so many changes of the store may be about to go. */
  private static final long YOUNG = 16;

  private static final int LOOKS = 4;
  private static final Duration PAUSE = Duration.ofMillis(3);

  private final EtcdContext context;
  private final EtcdClaim claim;
  private final Mode mode;
  private final Instant giveUpAt;
  private int looks;

  /** Whether the key was put, or was there: what fails from then on is no promise that nothing is. */
  private volatile boolean applied;

  EtcdAttempt(EtcdContext context, EtcdClaim claim, Mode mode, Instant giveUpAt) {
    this.context = context;
    this.claim = claim;
    this.mode = mode;
    this.giveUpAt = giveUpAt;
  }

  CompletableFuture<Answer> run() {
    return ask()
        .exceptionallyCompose(failure ->
            CompletableFuture.failedFuture(applied ? EtcdErrors.afterChange(failure) : failure));
  }

  private CompletableFuture<Answer> ask() {
    if (mode == Mode.QUEUE) {
      return enter();
    }
    claim.isTry();
    return lookFirst();
  }

  private CompletableFuture<Answer> lookFirst() {
    return context.calls.get(context.queue(claim), EtcdContext.FIRST).thenCompose(seen -> {
      if (seen.getKvs().isEmpty() || seen.getKvs().get(0).getKey().equals(claim.key)) {
        return enter();
      }
      KeyValue first = seen.getKvs().get(0);
      EtcdValue value = EtcdValue.read(first.getKey(), first.getValue());
      long age = seen.getHeader().getRevision() - first.getCreateRevision();
      looks++;
      if (value.kind() == EtcdValue.Kind.TRY && age < YOUNG && looks < LOOKS) {
        return pause().thenCompose(nothing -> lookFirst());
      }
      return answer(new Answer.Busy(false, value.holder(), Optional.empty()));
    });
  }

  private CompletableFuture<Boolean> pause() {
    CompletableFuture<Boolean> over = new CompletableFuture<>();
    context.later(PAUSE, () -> over.complete(true));
    return over;
  }

  /** Puts the key, under the waiters' lease where the lock is likely to be busy. */
  private CompletableFuture<Answer> enter() {
    boolean likelyBusy = mode == Mode.QUEUE && context.isLikelyBusy(claim.claim.name());
    EtcdLease lease = likelyBusy ? context.waiting : context.lease(claim.claim.lease());
    return lease.young().thenCompose(this::put);
  }

  private CompletableFuture<Answer> put(EtcdLease.Term term) {
    // read before the attempt is noted: an end that finds it noted raises the epoch beyond this one
    long version = term.epoch;
    Optional<EtcdClaim.Sent> noted = claim.sent(term);
    if (noted.isEmpty()) {
      // its own end has called it off
      return answer(new Answer.Late());
    }
    EtcdClaim.Sent sent = noted.get();
    // looked at when it is noted: an end that does not find it says that it is final only after this
    if (context.clock.isPast(giveUpAt)) {
      claim.settled(sent);
      return answer(new Answer.Late());
    }
    ByteSequence epoch = context.keys.epoch(term.id);
    ByteSequence queue = context.queue(claim);
    List<Op> then = new ArrayList<>(3);
    then.add(EtcdContext.put(claim, term));
    if (context.isShortQueue(claim.claim.name())) {
      then.add(Op.get(queue, LAST_TWO));
      then.add(Op.get(queue, EtcdContext.FIRST));
    } else {
      then.add(Op.get(queue, EtcdContext.COUNT));
    }
    CompletableFuture<TxnResponse> asked = context
        .calls
        .txn(
            List.of(
                new Cmp(epoch, Cmp.Op.EQUAL, CmpTarget.version(version)),
                new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(0))),
            then,
            // a refusal is rare: its reason is read afterwards, not in each attempt
            List.of())
        .whenComplete((done, failure) -> {
          if (failure == null
              || EtcdLease.isGone(failure)
              || EtcdErrors.isNotApplied(failure)
              || EtcdErrors.isFull(failure)) {
            claim.settled(sent);
          }
        });
    return asked
        .thenCompose(done -> done.isSucceeded() ? entered(term, done) : refused(term))
        .exceptionallyCompose(failure -> {
          if (EtcdLease.isGone(failure)) {
            term.gone();
            return enter();
          }
          return asked.isCompletedExceptionally() && EtcdErrors.isFull(failure)
              ? full(term, failure)
              : CompletableFuture.failedFuture(failure);
        });
  }

  /** There was no space for the key: it was put all the same, or was not and will not be. */
  private CompletableFuture<Answer> full(EtcdLease.Term term, Throwable failure) {
    CompletableFuture<GetResponse> read = context.calls.get(claim.key, GetOption.DEFAULT);
    return maybePutIfUnread(read).thenCompose(seen -> {
      if (seen.getKvs().isEmpty()) {
        return CompletableFuture.failedFuture(EtcdErrors.withoutChange(failure));
      }
      applied = true;
      claim.place.seen(seen.getKvs().get(0), term);
      return look(term, seen.getKvs().get(0).getCreateRevision());
    });
  }

  /** The epoch was raised, or the key is there already: then its place is looked at, and it is left as it is. */
  private CompletableFuture<Answer> refused(EtcdLease.Term term) {
    Op epoch = Op.get(context.keys.epoch(term.id), EtcdContext.KEY);
    Op own = Op.get(claim.key, GetOption.DEFAULT);
    CompletableFuture<TxnResponse> read =
        context.calls.txn(List.of(), List.of(epoch, own), List.of());
    return maybePutIfUnread(read).thenCompose(seen -> refused(term, seen));
  }

  /** Says of a failed read that the key may have been put. */
  private static <T> CompletableFuture<T> maybePutIfUnread(CompletableFuture<T> read) {
    return read.exceptionallyCompose(
        unread -> CompletableFuture.failedFuture(EtcdErrors.afterChange(unread)));
  }

  private CompletableFuture<Answer> refused(EtcdLease.Term term, TxnResponse done) {
    List<KeyValue> epoch = done.getGetResponses().get(0).getKvs();
    term.epoch = epoch.isEmpty() ? 0 : epoch.get(0).getVersion();
    List<KeyValue> own = done.getGetResponses().get(1).getKvs();
    if (own.isEmpty()) {
      return enter();
    }
    if (EtcdValue.read(claim.key, own.get(0).getValue()).kind() == EtcdValue.Kind.KEPT) {
      // the claim has ended meanwhile, and its key is a kept lock: it must not be moved
      return answer(new Answer.Late());
    }
    applied = true;
    claim.place.seen(own.get(0), term);
    return look(term, own.get(0).getCreateRevision());
  }

  private CompletableFuture<Answer> entered(EtcdLease.Term term, TxnResponse done) {
    applied = true;
    long revision = done.getHeader().getRevision();
    claim.place.made(revision, term);
    GetResponse last = done.getGetResponses().get(0);
    if (last.getCount() == 1) {
      return granted(revision, 1);
    }
    if (done.getGetResponses().size() == 1) {
      return look(term, revision);
    }
    return evaluate(
        term,
        revision,
        last.getKvs().size() > 1 ? last.getKvs().get(1) : null,
        EtcdQueues.one(done.getGetResponses().get(1)),
        last.getCount());
  }

  /** Reads which claim is first, and which is right ahead. */
  private CompletableFuture<Answer> look(EtcdLease.Term term, long revision) {
    return context
        .queues
        .place(claim, revision)
        .thenCompose(seen -> evaluate(term, revision, seen.before(), seen.first(), seen.count()));
  }

  private CompletableFuture<Answer> evaluate(
      EtcdLease.Term term,
      long revision,
      @Nullable KeyValue before,
      @Nullable KeyValue first,
      long count) {
    if (first == null) {
      // all have gone since the key was put, our own key as well: an operator did that
      claim.place.deleted(revision);
      return enter();
    }
    // not by its name: another key of the claim may be there by now
    if (first.getCreateRevision() == revision) {
      return granted(revision, count);
    }
    EtcdValue holder = EtcdValue.read(first.getKey(), first.getValue());
    if (mode == Mode.TRY) {
      return leave(term)
          .thenApply(gone -> new Answer.Busy(false, holder.holder(), Optional.empty()));
    }
    context.wanted(claim.claim.name(), count);
    if (before != null) {
      claim.place.behind(revision, before);
    }
    claim.startWaiting(context).ifPresent(EtcdWait::begin);
    return answer(new Answer.Busy(true, holder.holder(), Optional.empty()));
  }

  /**
   * Deletes a try's key. Until that is answered the key is not sure to stay: should the try be repeated and find that it is
   * first, it puts the key once more, which that deletion does not meet.
   */
  private CompletableFuture<Boolean> leave(EtcdLease.Term term) {
    Optional<EtcdPlace.Move> noted = claim.place.moving(claim.place.revision(), term, true);
    if (noted.isEmpty()) {
      // granted to a later attempt meanwhile, or over
      return CompletableFuture.completedFuture(true);
    }
    EtcdPlace.Move last = noted.get();
    return context
        .calls
        .txn(
            List.of(
                new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.createRevision(last.revision)),
                new Cmp(claim.key, Cmp.Op.EQUAL, CmpTarget.modRevision(last.modified))),
            List.of(Op.delete(claim.key, DeleteOption.DEFAULT)),
            List.of(Op.get(claim.key, GetOption.DEFAULT)))
        .thenCompose(done -> {
          claim.place.notMoved(last);
          List<KeyValue> there =
              done.isSucceeded() ? List.of() : done.getGetResponses().get(0).getKvs();
          if (there.isEmpty()) {
            claim.place.deleted(last.revision);
            return CompletableFuture.completedFuture(true);
          }
          claim.place.seen(there.get(0), term);
          return leave(term);
        });
  }

  private CompletableFuture<Answer> granted(long revision, long queueLength) {
    if (!claim.place.first(revision, context.runtime.ticker().now())) {
      // that key has gone, and there is another one since
      return enter();
    }
    claim.stopWaiting();
    context.wanted(claim.claim.name(), queueLength);
    boolean othersWait = queueLength > 1;
    EtcdLease own = context.lease(claim.claim.lease());
    EtcdLease.Term under = claim.place.settled(revision);
    if (under != null && under == own.current()) {
      return answer(grant(revision, under, othersWait));
    }
    return context
        .move(claim, revision, own)
        .thenCompose(moved -> moved.isPresent()
            ? answer(grant(revision, moved.get(), othersWait))
            // it was ended meanwhile, by an operator or with its lease: asked again it is put at the end
            : enter());
  }

  private Answer grant(long revision, EtcdLease.Term term, boolean othersWait) {
    return new Answer.Granted(new Grant(revision, term.anchor(), claim.claim.lease(), othersWait));
  }

  private static CompletableFuture<Answer> answer(Answer answer) {
    return CompletableFuture.completedFuture(answer);
  }
}
