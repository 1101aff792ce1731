// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Ends claims: one transaction checks that the lock's key is as the grant left it, and deletes it. While an attempt of the
 * claim has had no answer, the epoch of its session is raised first, in a transaction that also reads the key, so that the
 * attempt is not applied behind the end.
 *
 * <p>A hold that is kept has its key unlocked, and locked with a session of its own, which nobody renews.
 */
final class ConsulEnding {
  private final ConsulContext context;

  ConsulEnding(ConsulContext context) {
    this.context = context;
  }

  CompletableFuture<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    Optional<ConsulClaim> known = context.known(claim.id());
    ConsulClaim mine = context.claim(claim);
    mine.end(context.runtime.ticker().now());
    Asked asked = new Asked(mine, keepFor, lastGiveUp, mine.open());
    if (!asked.open.isEmpty()) {
      return callOff(asked);
    }
    ConsulClaim.Tenure tenure = mine.tenure();
    if (tenure != null) {
      return release(asked, tenure.revision(), tenure.term().id, true);
    }
    if (known.isPresent() && !mine.isUnknown) {
      return over(asked, Outcome.NOT_THERE, false);
    }
    // it was made before, and forgotten
    mine.isUnknown = true;
    return look(asked);
  }

  /**
   * What is to be ended.
   *
   * @param open the attempts that had no answer when that was asked for; none is sent any more
   */
  private record Asked(
      ConsulClaim claim, Duration keepFor, Instant lastGiveUp, Set<ConsulClaim.Sent> open) {}

  /** Raises the epochs of the sessions that unanswered attempts lock the key with. */
  private CompletableFuture<Ended> callOff(Asked asked) {
    Set<ConsulSession.Term> terms = new LinkedHashSet<>();
    asked.open.forEach(each -> terms.add(each.term));
    CompletableFuture<Boolean> raised = CompletableFuture.completedFuture(true);
    for (ConsulSession.Term each : List.copyOf(terms)) {
      raised = raised.thenCompose(before -> raise(each));
    }
    // they are settled when what they have left is gone: until then their sessions are not idle
    return raised.thenCompose(done -> look(asked));
  }

  private CompletableFuture<Boolean> raise(ConsulSession.Term term) {
    String epoch = context.keys.epoch(term.id);
    return context
        .calls
        .txn(new ConsulTxn().lock(epoch, term.id, term.nextRaise()))
        .thenApply(done -> {
          if (done.isDone()) {
            done.entry(epoch).ifPresent(seen -> term.epoch = seen.index());
          } else if (done.isSessionGone()) {
            // nothing is locked with a session that has ended
            term.gone();
          } else {
            throw refused("an epoch was not raised: ", done);
          }
          return true;
        });
  }

  /** Looks whether the claim has the lock, and ends that. */
  private CompletableFuture<Ended> look(Asked asked) {
    return context.calls.get(asked.claim.key).thenCompose(seen -> {
      if (!seen.isThere() || !seen.isLocked()) {
        return over(asked, Outcome.NOT_THERE, false);
      }
      ConsulValue value = ConsulValue.read(seen);
      if (!value.claim().equals(asked.claim.claim.id())) {
        return over(asked, Outcome.NOT_THERE, false);
      }
      if (value.isKept()) {
        // an earlier end did that, and its answer was lost
        return over(asked, Outcome.RELEASED, false);
      }
      return release(asked, seen.index(), seen.session(), false);
    });
  }

  private CompletableFuture<Ended> release(
      Asked asked, long revision, String session, boolean isFirst) {
    Duration left = asked
        .claim
        .grantedBefore()
        .map(moment -> asked.keepFor.minusNanos(context.runtime.ticker().elapsedNanos(moment)))
        .orElse(asked.keepFor);
    if (asked.keepFor.isZero() || left.isNegative() || left.isZero()) {
      ConsulClaim mine = asked.claim;
      ConsulTxn txn = new ConsulTxn()
          .isSame(mine.key, revision)
          .get(mine.wanted)
          .delete(mine.key)
          .delete(mine.wanted);
      CompletableFuture<ConsulTxn.Answer> told =
          isFirst ? context.firstTxn(txn) : context.calls.txn(txn);
      return told.thenCompose(done -> {
        if (done.isDone()) {
          // an earlier end was to keep the lock, and did not
          mine.keeper.ifPresent(context.calls::destroySession);
        }
        return released(asked, revision, done);
      });
    }
    return keep(asked, revision, session, left);
  }

  private CompletableFuture<Ended> keep(Asked asked, long revision, String session, Duration left) {
    Duration least = context.settings.shortestSession();
    Duration length = left.compareTo(least) < 0 ? least : left.plusMillis(1);
    Duration most =
        length.compareTo(ConsulGuarantees.LONGEST) > 0 ? ConsulGuarantees.LONGEST : length;
    ConsulClaim mine = asked.claim;
    String value = ConsulValue.kept(mine.claim, mine.since, context.clock.wall().plus(left))
        .write();
    return keeper(mine, most).thenCompose(own -> {
      ConsulTxn txn = new ConsulTxn()
          .isSame(mine.key, revision)
          .get(mine.wanted)
          .unlock(mine.key, session)
          .lock(mine.key, own, value);
      return context.calls.txn(txn).thenCompose(done -> {
        if (done.isSessionGone()) {
          mine.keeper = Optional.empty();
        }
        return released(asked, revision, done);
      });
    });
  }

  /** Returns the session that the lock will be kept by: the one that an earlier end has made, if any. */
  private CompletableFuture<String> keeper(ConsulClaim mine, Duration length) {
    Optional<String> made = mine.keeper;
    if (made.isPresent()) {
      return CompletableFuture.completedFuture(made.get());
    }
    // servers that answer nothing may make all that they were asked for when they go on: looked at before the second
    CompletableFuture<?> before =
        mine.keeperAsked ? context.calls.get(mine.key) : CompletableFuture.completedFuture(true);
    return before.thenCompose(seen -> {
      mine.keeperAsked = true;
      return context.calls.createSession(length, Duration.ZERO).thenApply(own -> {
        mine.keeper = Optional.of(own);
        return own;
      });
    });
  }

  private static StoreException refused(String what, ConsulTxn.Answer done) {
    return new StoreException(what + done.refusals(), Reason.UNREACHABLE, true, null);
  }

  private CompletableFuture<Ended> released(Asked asked, long revision, ConsulTxn.Answer done) {
    if (done.isDone()) {
      return over(asked, Outcome.RELEASED, done.isThere(asked.claim.wanted));
    }
    if (done.isSessionGone() || done.isDelayed()) {
      // the session that would keep the lock; asked again, it is another one, or the lock-delay is over
      return CompletableFuture.failedFuture(refused("the lock was not kept: ", done));
    }
    // it went before, or somebody has touched it by hand
    return context.calls.get(asked.claim.key).thenCompose(seen -> {
      if (seen.index() == revision) {
        return CompletableFuture.failedFuture(
            new IllegalStateException("a release was refused for no reason: " + done.refusals()));
      }
      asked.claim.keeper.filter(own -> !own.equals(seen.session())).ifPresent(own -> {
        asked.claim.keeper = Optional.empty();
        context.calls.destroySession(own);
      });
      return look(asked);
    });
  }

  private CompletableFuture<Ended> over(Asked asked, Outcome outcome, boolean othersWait) {
    asked.claim.settled(asked.open);
    boolean none = asked.claim.open().isEmpty();
    boolean isFinal = none && context.clock.isPast(asked.lastGiveUp);
    if (none) {
      context.forget(asked.claim);
    }
    return CompletableFuture.completedFuture(new Ended(outcome, isFinal, othersWait));
  }
}
