// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/**
 * The end of a claim. A hold whose lease has ended is not released but not there, and its row is left for the next
 * holder. That nothing can come after it is judged by the clock like the attempts themselves.
 */
final class SqliteEnd extends SqliteRequest<Ended> {
  private final SqliteContext context;
  private final Waiting waiting;
  private final Claim claim;
  private final long keepForUs;
  private final long lastGiveUpMillis;
  private final String id;
  private boolean wasLast;

  SqliteEnd(
      SqliteContext context, Waiting waiting, Claim claim, Duration keepFor, Instant lastGiveUp) {
    super(context.now());
    this.context = context;
    this.waiting = waiting;
    this.claim = claim;
    keepForUs = keepFor.toNanos() / 1000;
    lastGiveUpMillis = lastGiveUp.toEpochMilli();
    id = claim.id().toString();
  }

  @Override
  boolean needsTransaction() {
    return false;
  }

  @Override
  boolean isOverdue(Moment now) {
    return asked.elapsedNanos(now.nanos(), now.wallMillis())
        > context.runtime().requestTimeout().toNanos();
  }

  @Override
  void answered(Ended answer) {
    waiting.remove(claim.id());
    if (answer.outcome() != Outcome.NOT_THERE) {
      waiting.lookNow(claim.name());
    }
  }

  /** The engine may not ask again, and nobody waits for it any more. */
  @Override
  void failed() {
    waiting.remove(claim.id());
  }

  @Override
  Ended run(SqliteSession session) throws SQLException {
    Moment now = context.now();
    long nowUs = SqliteContext.micros(now);
    boolean isFinal = now.wallMillis() > lastGiveUpMillis;
    if (keepForUs == 0 && session.locks.free(claim, id, nowUs)) {
      return new Ended(Outcome.RELEASED, isFinal, false);
    }
    SqliteLocks.Done done = session.locks.end(claim, id, keepForUs, nowUs);
    if (done != null) {
      return new Ended(Outcome.RELEASED, isFinal, done.othersWait());
    }
    // out of the list before its word is taken back: a look that runs meanwhile must not leave it again
    wasLast |= waiting.isLastOf(claim);
    waiting.remove(claim.id());
    if (wasLast) {
      session.locks.unwant(claim.name().name(), claim.id().client());
    }
    if (claim.fair() && session.queue.leave(id)) {
      return new Ended(Outcome.WITHDRAWN, isFinal, false);
    }
    return new Ended(Outcome.NOT_THERE, isFinal, false);
  }
}
