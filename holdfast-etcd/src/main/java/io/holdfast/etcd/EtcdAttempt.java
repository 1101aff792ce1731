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
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Asks for a lock: one transaction puts the claim's key and reads the queue. The claim with the oldest key holds the lock,
 * so that the create revision, which is given when the claim enters the queue, grows from grant to grant.
 *
 * <p>The transaction compares the lease's epoch: once that was raised, no earlier attempt is applied any more. An attempt
 * that fails only for that was not applied, and is repeated.
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

  EtcdAttempt(EtcdContext context, EtcdClaim claim, Mode mode, Instant giveUpAt) {
    this.context = context;
    this.claim = claim;
    this.mode = mode;
    this.giveUpAt = giveUpAt;
  }

  CompletableFuture<Answer> run() {
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
    boolean likelyBusy = mode == Mode.QUEUE && context.busy.contains(claim.claim.name());
    EtcdLease lease = likelyBusy ? context.waiting : context.lease(claim.claim.lease());
    return lease.young().thenCompose(this::put);
  }

  private CompletableFuture<Answer> put(EtcdLease.Term term) {
    if (context.clock.isPast(giveUpAt)) {
      return answer(new Answer.Late());
    }
    ByteSequence epoch = context.keys.epoch(term.id);
    ByteSequence queue = context.queue(claim);
    EtcdClaim.Sent sent = claim.sent(term);
    return context
        .calls
        .txn(
            List.of(new Cmp(epoch, Cmp.Op.EQUAL, CmpTarget.version(term.epoch))),
            List.of(
                EtcdContext.put(claim, term),
                Op.get(queue, EtcdContext.FIRST),
                Op.get(queue, LAST_TWO)),
            List.of(Op.get(epoch, EtcdContext.KEY)))
        .whenComplete((done, failure) -> {
          if (failure == null || EtcdLease.isGone(failure) || EtcdErrors.isNotApplied(failure)) {
            claim.settled(sent);
          }
        })
        .thenCompose(done -> answered(term, done))
        .exceptionallyCompose(failure -> {
          if (EtcdLease.isGone(failure)) {
            term.gone();
            return enter();
          }
          return CompletableFuture.failedFuture(failure);
        });
  }

  private CompletableFuture<Answer> answered(EtcdLease.Term term, TxnResponse done) {
    if (!done.isSucceeded()) {
      List<KeyValue> epoch = done.getGetResponses().get(0).getKvs();
      term.epoch = epoch.isEmpty() ? 0 : epoch.get(0).getVersion();
      return enter();
    }
    claim.under(term);
    return decide(term, done);
  }

  private CompletableFuture<Answer> decide(EtcdLease.Term term, TxnResponse done) {
    PutResponse put = done.getPutResponses().get(0);
    boolean isNew = !put.hasPrevKv();
    claim.revision(isNew ? done.getHeader().getRevision() : put.getPrevKv().getCreateRevision());
    GetResponse queue = done.getGetResponses().get(0);
    KeyValue first = queue.getKvs().get(0);
    if (first.getKey().equals(claim.key)) {
      return granted(term, queue.getCount() > 1);
    }
    EtcdValue holder = EtcdValue.read(first.getKey(), first.getValue());
    if (mode == Mode.TRY) {
      return context
          .calls
          .txn(List.of(), List.of(Op.delete(claim.key, DeleteOption.DEFAULT)), List.of())
          .thenApply(gone -> new Answer.Busy(false, holder.holder(), Optional.empty()));
    }
    context.busy.add(claim.claim.name());
    List<KeyValue> last = done.getGetResponses().get(1).getKvs();
    // a key that was there already is not the last one: who is before it is looked up
    ByteSequence before = isNew && last.size() > 1 ? last.get(1).getKey() : null;
    claim.startWaiting(context).ifPresent(wait -> wait.begin(before));
    return answer(new Answer.Busy(true, holder.holder(), Optional.empty()));
  }

  private CompletableFuture<Answer> granted(EtcdLease.Term term, boolean othersWait) {
    claim.stopWaiting();
    context.busy.remove(claim.claim.name());
    claim.granted(context.runtime.ticker().now());
    EtcdLease own = context.lease(claim.claim.lease());
    if (term == own.current()) {
      return answer(grant(term, othersWait));
    }
    return context
        .move(claim, own)
        .thenCompose(moved -> moved.isPresent()
            ? answer(grant(moved.get(), othersWait))
            // it was ended meanwhile, by an operator or with its lease: asked again it is put at the end
            : enter());
  }

  private Answer grant(EtcdLease.Term term, boolean othersWait) {
    return new Answer.Granted(
        new Grant(claim.revision(), term.anchor(), claim.claim.lease(), othersWait));
  }

  private static CompletableFuture<Answer> answer(Answer answer) {
    return CompletableFuture.completedFuture(answer);
  }
}
