// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a lock: one transaction checks that nobody has it and locks its key with the session. The index of that
 * transaction is the grant's revision; it grows with every change in the cluster. If somebody has the lock, who that is takes
 * one more request.
 *
 * <p>The server's {@code lock} is idempotent for the session, not for the claim: so the key must not be there at all. What
 * is there is read: it is our own claim if an earlier attempt's answer was lost.
 *
 * <p>The transaction compares the session's epoch: once that was raised, no earlier attempt is applied any more. An attempt
 * that fails only for that was not applied, and is repeated.
 */
final class ConsulAttempt {
  /** Somebody may come and go between a refusal and the look at who that was. */
  private static final int ROUNDS = 4;

  private final ConsulContext context;
  private final ConsulClaim claim;
  private final Mode mode;
  private final Instant giveUpAt;
  private int rounds;

  private ConsulAttempt(ConsulContext context, ConsulClaim claim, Mode mode, Instant giveUpAt) {
    this.context = context;
    this.claim = claim;
    this.mode = mode;
    this.giveUpAt = giveUpAt;
  }

  /** Asks for a lock. The claim is remembered for as long as any attempt of it is under way. */
  static CompletableFuture<Answer> ask(
      ConsulContext context, Claim claim, Mode mode, Instant giveUpAt) {
    ConsulClaim mine = context.asking(claim);
    return new ConsulAttempt(context, mine, mode, giveUpAt)
        .run()
        .whenComplete(
            (answer, failure) -> context.answered(mine, nobodyEnds(mode, answer, failure)));
  }

  /** The engine ends no try that was in vain, nor an attempt that was late or not applied. */
  private static boolean nobodyEnds(
      Mode mode, @Nullable Answer answer, @Nullable Throwable failure) {
    return failure == null
        ? answer instanceof Answer.Late || (answer instanceof Answer.Busy && mode == Mode.TRY)
        : ConsulErrors.isNotApplied(failure);
  }

  private CompletableFuture<Answer> run() {
    // a look costs the servers less than a transaction that is refused
    return claim.isWaiting() ? look() : enter(0);
  }

  /** Asks with a session that has most of its time left; the key must be as it was then, 0 for not there. */
  private CompletableFuture<Answer> enter(long index) {
    if (context.isClosed()) {
      return answer(new Answer.Late());
    }
    return context.session(claim.claim.lease()).young().thenCompose(term -> lock(term, index));
  }

  private CompletableFuture<Answer> lock(ConsulSession.Term term, long index) {
    // read before the attempt is noted: if an end finds the attempt, it raises the epoch above this value
    long version = term.epoch;
    Optional<ConsulClaim.Sent> sent = claim.sent(term);
    if (sent.isEmpty() || context.isClosed() || context.clock.isPast(giveUpAt)) {
      sent.ifPresent(claim::settled);
      return answer(new Answer.Late());
    }
    String epoch = context.keys.epoch(term.id);
    ConsulTxn txn = new ConsulTxn()
        .isAt(epoch, version)
        .isAt(claim.key, index)
        .lock(claim.key, term.id, claim.value)
        .delete(claim.wanted);
    CompletableFuture<ConsulTxn.Answer> asked =
        rounds == 0 ? context.firstTxn(txn) : context.calls.txn(txn);
    return asked
        .thenApply(this::readable)
        .whenComplete((done, failure) -> {
          if (failure == null && done.isDone()) {
            // before it is settled: the session must not look idle in between
            has(done.entry(claim.key).orElseThrow().index(), term);
          }
          if (failure == null || ConsulErrors.isNotApplied(failure)) {
            claim.settled(sent.get());
          }
        })
        .thenCompose(done -> answered(term, done));
  }

  /** What was applied is told with its index, unless the token may not read it. */
  private ConsulTxn.Answer readable(ConsulTxn.Answer done) {
    if (done.isDone() && done.entry(claim.key).isEmpty()) {
      throw new StoreException(
          "the token may write the key " + claim.key + ", and not read it",
          Reason.REFUSED,
          false,
          null);
    }
    return done;
  }

  private CompletableFuture<Answer> answered(ConsulSession.Term term, ConsulTxn.Answer done) {
    if (done.isDone()) {
      return granted(done.entry(claim.key).orElseThrow().index(), term, false);
    }
    if (done.isSessionGone()) {
      term.gone();
      return again(done);
    }
    if (done.isDelayed()) {
      return busy(Optional.empty());
    }
    if (done.isRefusedFor(context.keys.epoch(term.id))) {
      return context.calls.get(context.keys.epoch(term.id)).thenCompose(seen -> {
        term.epoch = seen.index();
        return again(done);
      });
    }
    return look();
  }

  /** Asks once more after what was not applied, but not without end: each time may leave a session behind. */
  private CompletableFuture<Answer> again(ConsulTxn.Answer refused) {
    rounds++;
    return rounds < ROUNDS
        ? enter(0)
        : CompletableFuture.failedFuture(new StoreException(
            "the servers refuse one session after the other: " + refused.refusals(),
            Reason.UNREACHABLE,
            true,
            null));
  }

  /** Reads who has the lock. */
  private CompletableFuture<Answer> look() {
    return context.calls.get(claim.key).thenCompose(seen -> {
      rounds++;
      if (!seen.isThere() || !seen.isLocked()) {
        // whatever has no session is nobody's: brought back by an import, or written by hand
        return rounds < ROUNDS ? enter(seen.index()) : busy(Optional.empty());
      }
      ConsulValue value = ConsulValue.read(seen);
      if (value.claim().equals(claim.claim.id()) && !value.isKept()) {
        return context
            .term(seen.session())
            .map(term -> granted(seen.index(), term, true))
            .orElseGet(() -> CompletableFuture.failedFuture(new StoreException(
                "the key " + seen.key() + " has our claim and another client's session",
                Reason.DAMAGED,
                false,
                null)));
      }
      return busy(Optional.of(seen));
    });
  }

  private CompletableFuture<Answer> granted(
      long revision, ConsulSession.Term term, boolean othersWait) {
    claim.stopWaiting();
    has(revision, term);
    return answer(
        new Answer.Granted(new Grant(revision, term.anchor(), claim.claim.lease(), othersWait)));
  }

  private void has(long revision, ConsulSession.Term term) {
    claim.granted(revision, term, context.runtime.ticker().now());
  }

  private CompletableFuture<Answer> busy(Optional<ConsulEntry> seen) {
    if (mode == Mode.QUEUE) {
      claim.startWaiting(context).ifPresent(wait -> wait.begin(seen));
    }
    return answer(new Answer.Busy(
        false, seen.flatMap(entry -> ConsulValue.read(entry).holder()), Optional.empty()));
  }

  private static CompletableFuture<Answer> answer(Answer answer) {
    return CompletableFuture.completedFuture(answer);
  }
}
