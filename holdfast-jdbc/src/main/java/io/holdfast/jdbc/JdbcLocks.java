// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/** Attempts and ends. */
final class JdbcLocks {
  private static final System.Logger LOG = System.getLogger(JdbcLocks.class.getName());

  private final JdbcContext context;
  private final JdbcDialect dialect;
  private final JdbcLane lane;
  private final Waiting waiting;

  private final JdbcFlights flights = new JdbcFlights();

  JdbcLocks(JdbcContext context, JdbcLane lane, Waiting waiting) {
    this.context = context;
    this.dialect = context.dialect();
    this.lane = lane;
    this.waiting = waiting;
  }

  CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
    long giveUpUs = JdbcClock.micros(giveUpAt);
    flights.begin(claim.id());
    return lane.submitOrRun(session -> {
          Answer answer = claim.fair() && mode == Mode.QUEUE
              ? inTurn(session, claim, giveUpUs)
              : plain(session, claim, mode, giveUpUs);
          answered(claim, mode, answer);
          if (answer instanceof Answer.Late) {
            // our idea of its clock was wrong, or the request took long: the next one should know better
            context.clock().heard(dialect.now(session));
          }
          return answer;
        })
        .whenComplete((answer, failure) -> flights.end(claim.id()));
  }

  private void answered(Claim claim, Mode mode, Answer answer) {
    if (mode == Mode.QUEUE && answer instanceof Answer.Busy) {
      waiting.add(claim);
      // an older attempt's answer may come after the claim was granted, or has ended
      if (flights.isOver(claim.id())) {
        waiting.remove(claim.id());
      }
    } else {
      if (answer instanceof Answer.Granted) {
        flights.over(claim.id());
      }
      waiting.remove(claim.id());
    }
  }

  private Answer plain(JdbcSession session, Claim claim, Mode mode, long giveUpUs)
      throws SQLException {
    Moment anchor = context.now();
    JdbcDialect.Attempted attempted =
        dialect.attempt(session, claim, mode == Mode.QUEUE, false, giveUpUs, waiting.wordLastsUs());
    return answer(attempted, claim, anchor, false);
  }

  /**
   * For a fair claim: only the first in line may have the lock, and who is not enters the line, or shows that he lives.
   * That are two transactions: one that frees the lock between them is seen by the next look.
   */
  private Answer inTurn(JdbcSession session, Claim claim, long giveUpUs) throws SQLException {
    Moment anchor = context.now();
    JdbcDialect.Attempted attempted =
        dialect.attempt(session, claim, true, true, giveUpUs, waiting.wordLastsUs());
    if (attempted instanceof JdbcDialect.Attempted.Busy) {
      dialect.enter(session, claim, giveUpUs, Waiting.WAITER_LEASE_US);
      if (flights.isOver(claim.id())) {
        dialect.leave(session, claim.id());
      }
    } else if (attempted instanceof JdbcDialect.Attempted.Granted) {
      leaveAfterGrant(session, claim);
    }
    return answer(attempted, claim, anchor, true);
  }

  /** The lock is ours already, whatever becomes of this; a row that stays in the queue is dead in a few seconds. */
  private void leaveAfterGrant(JdbcSession session, Claim claim) {
    if (!waiting.contains(claim.id())) {
      return;
    }
    try {
      dialect.leave(session, claim.id());
    } catch (SQLException e) {
      LOG.log(Level.DEBUG, "store=" + context.store() + " a granted waiter stays in the queue", e);
    }
  }

  private static Answer answer(
      JdbcDialect.Attempted attempted, Claim claim, Moment anchor, boolean queued) {
    if (attempted instanceof JdbcDialect.Attempted.Granted granted) {
      return new Answer.Granted(
          new Grant(granted.revision(), anchor, claim.lease(), granted.othersWait()));
    }
    if (attempted instanceof JdbcDialect.Attempted.Busy busy) {
      return new Answer.Busy(
          queued, busy.holder(), Optional.of(Duration.ofNanos(busy.leftUs() * 1000)));
    }
    return new Answer.Late();
  }

  CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
    long finalUs = JdbcClock.micros(lastGiveUp) + dialect.staleUs();
    long keepForUs = keepFor.toNanos() / 1000;
    flights.over(claim.id());
    // out of the list before its word is taken back: a look that runs meanwhile must not leave it again
    boolean wasLast = waiting.isLastOf(claim);
    waiting.remove(claim.id());
    AtomicBoolean isToTell = new AtomicBoolean();
    return lane.submitOrRun(session -> {
          Ended ended = end(session, claim, keepForUs, finalUs, isToTell);
          if (ended.outcome() != Outcome.RELEASED) {
            boolean hadWord =
                wasLast && dialect.unwant(session, claim.name(), claim.id().client());
            if (hadWord || ended.outcome() == Outcome.WITHDRAWN) {
              // others may have counted on this word, or stand behind it in the queue
              dialect.tell(session, claim.name());
            }
          }
          return ended;
        })
        .whenComplete((ended, failure) -> {
          if (ended != null && ended.outcome() != Outcome.NOT_THERE) {
            waiting.lookNow(claim.name());
          }
          if (isToTell.get()) {
            tell(claim.name());
          }
        });
  }

  /** Tells waiters after the release was answered. If this fails, it is logged, and the waiters poll. */
  private void tell(LockKey name) {
    CompletionStage<Boolean> told = lane.submit(session -> {
      dialect.tell(session, name);
      return true;
    });
    told.whenComplete((yes, failure) -> {
      if (failure != null) {
        LOG.log(
            Level.DEBUG,
            "store=" + context.store() + " waiters were not told of a release",
            failure);
      }
    });
  }

  private Ended end(
      JdbcSession session, Claim claim, long keepForUs, long finalUs, AtomicBoolean isToTell)
      throws SQLException {
    JdbcDialect.Freed freed = dialect.end(session, claim, keepForUs);
    if (freed != null) {
      return released(freed, finalUs, isToTell);
    }
    boolean left = claim.fair() && dialect.leave(session, claim.id());
    long nowUs = dialect.now(session);
    context.clock().heard(nowUs);
    if (nowUs <= finalUs) {
      return new Ended(left ? Outcome.WITHDRAWN : Outcome.NOT_THERE, false, false);
    }
    // What is applied now came too late. What was applied until then may not have been there yet when we looked, or is
    // being committed: so it is looked for once more.
    dialect.awaitWriters(session, claim.name());
    freed = dialect.end(session, claim, keepForUs);
    if (freed != null) {
      return released(freed, finalUs, isToTell);
    }
    return new Ended(left ? Outcome.WITHDRAWN : Outcome.NOT_THERE, true, false);
  }

  private Ended released(JdbcDialect.Freed freed, long finalUs, AtomicBoolean isToTell) {
    isToTell.set(freed.isToTell());
    context.clock().heard(freed.nowUs());
    return new Ended(Outcome.RELEASED, freed.nowUs() > finalUs, freed.othersWait());
  }

  void close() {
    waiting.close();
  }
}
