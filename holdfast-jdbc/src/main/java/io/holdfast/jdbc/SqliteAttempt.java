// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Mode;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One try to get a lock.
 *
 * <p>{@code giveUpAt} is judged here, right before the statements and with the connection in hand, and not by a
 * condition in them: no statement of ours ever waits for the file (see {@link SqliteConnection}), so little time passes
 * between the judgement and the change unless this very process is suspended, and the only one that relies on {@code
 * giveUpAt} is this process's own {@code end}, which runs on the same connection and so before or after, never between.
 * It counts by both clocks from the moment of the call: a wall clock that steps back gives no second chance.
 *
 * <p>A lease begins at the same reading of the clock that the answer gives as its anchor.
 */
final class SqliteAttempt extends SqliteRequest<Answer> {
  private static final Answer LATE = new Answer.Late();
  private static final Answer BUSY = new Answer.Busy(false, Optional.empty(), Optional.empty());
  private static final Answer BEHIND = new Answer.Busy(true, Optional.empty(), Optional.empty());

  /** A row can change between two statements, but somebody always gets ahead then. */
  private static final int LOOKS = 3;

  private final SqliteContext context;
  private final SqliteKeeper keeper;
  private final Waiting waiting;
  private final Claim claim;
  private final Mode mode;
  private final long allowedNanos;
  private final String id;
  private boolean freedTheDead;

  /** Whether another client may have freed the lock after the last look had read its row. */
  private boolean mayBeFree;

  SqliteAttempt(
      SqliteContext context,
      SqliteKeeper keeper,
      Waiting waiting,
      Claim claim,
      Mode mode,
      Instant giveUpAt) {
    super(context.now());
    this.context = context;
    this.keeper = keeper;
    this.waiting = waiting;
    this.claim = claim;
    this.mode = mode;
    allowedNanos = (giveUpAt.toEpochMilli() - asked.wallMillis()) * 1_000_000L;
    id = claim.id().toString();
  }

  /** One that has come too late needs nothing of the file, which may be busy. */
  @Override
  boolean needsTransaction() {
    return claim.fair() && !isOverdue(context.now());
  }

  @Override
  boolean isOverdue(Moment now) {
    return asked.elapsedNanos(now.nanos(), now.wallMillis()) > allowedNanos;
  }

  @Override
  void answered(Answer answer) {
    if (mode == Mode.QUEUE && answer instanceof Answer.Busy) {
      waiting.add(claim);
    } else {
      waiting.remove(claim.id());
    }
    if (freedTheDead) {
      keeper.freeDeadClients();
    }
  }

  @Override
  Answer run(SqliteSession session) throws SQLException {
    Moment now = context.now();
    if (isOverdue(now)) {
      if (wasKeptOut()) {
        throw SqliteErrors.busyTooLong(context.store(), null);
      }
      return LATE;
    }
    return claim.fair() ? fair(session, now) : plain(session, now);
  }

  private Answer plain(SqliteSession session, Moment now) throws SQLException {
    long nowUs = SqliteContext.micros(now);
    long revision = session.locks.nextRevision(nowUs);
    String file = file();
    // Who waits reads first: it left word, so that the short way is closed to it, and a refusal should not take the
    // write lock.
    if (!waiting.contains(claim.id()) && session.locks.take(claim, id, file, revision, nowUs)) {
      return granted(revision, now, false);
    }
    for (int look = 0; look < LOOKS; look++) {
      LockRow row = session.locks.read(claim.name().name());
      mayBeFree = false;
      if (row != null && staysTaken(session, row, nowUs)) {
        if (mayBeFree && look < LOOKS - 1) {
          continue;
        }
        return busy(session, row, false, nowUs);
      }
      SqliteLocks.Done done = session.locks.grant(claim, id, file, revision, nowUs);
      if (done != null) {
        return granted(done.revision(), now, done.othersWait());
      }
    }
    return BUSY;
  }

  /** Within a transaction: what is read stays so. */
  private Answer fair(SqliteSession session, Moment now) throws SQLException {
    long nowUs = SqliteContext.micros(now);
    String name = claim.name().name();
    LockRow row = session.locks.read(name);
    if (row != null && staysTaken(session, row, nowUs)) {
      boolean queue = mode == Mode.QUEUE;
      if (queue) {
        enter(session, nowUs);
      }
      return busy(session, row, queue, nowUs);
    }
    boolean own = row != null && row.isTaken(nowUs) && id.equals(row.claim());
    // a try takes what is free, whoever waits for it: it has no place in the queue, and "busy" would not be true
    JdbcDialect.Head head = own || mode == Mode.TRY ? null : firstAlive(session, nowUs);
    if (head != null && !head.claim().equals(id)) {
      enter(session, nowUs);
      return BEHIND;
    }
    long revision = session.locks.nextRevision(nowUs);
    SqliteLocks.Done done = session.locks.grant(claim, id, file(), revision, nowUs);
    if (done == null) {
      throw new SQLException("a free lock could not be taken: " + name);
    }
    if (head != null) {
      session.queue.leave(id);
    }
    return granted(done.revision(), now, done.othersWait());
  }

  /** The dead are dropped first, ourselves too: who let his place lapse stands at the end again. */
  private void enter(SqliteSession session, long nowUs) throws SQLException {
    session.queue.dropDead(claim.name().name(), nowUs);
    session.queue.enter(claim, id, context.liveness().own(), nowUs + Waiting.WAITER_LEASE_US);
  }

  /** Says whether another claim has it, after freeing it if the client of that has died. */
  private boolean staysTaken(SqliteSession session, LockRow row, long nowUs) throws SQLException {
    if (!row.isTaken(nowUs) || id.equals(row.claim())) {
      return false;
    }
    String holder = row.claim();
    return holder == null
        || !freeIfDead(session, holder, () -> {
          String file = session.locks.clientFile(row.name(), holder);
          // with a file, another client may have found the holder dead and freed the lock just before
          mayBeFree = file == null || !file.isEmpty();
          return file;
        });
  }

  private boolean freeIfDead(SqliteSession session, String other, SqliteLiveness.FileOfRow file)
      throws SQLException {
    boolean freed = context.liveness().freeIfDead(session, other, file);
    freedTheDead |= freed;
    return freed;
  }

  private JdbcDialect.@Nullable Head firstAlive(SqliteSession session, long nowUs)
      throws SQLException {
    while (true) {
      JdbcDialect.Head head = session.queue.head(claim.name().name(), nowUs);
      if (head == null
          || head.claim().equals(id)
          || !freeIfDead(session, head.claim(), () -> session.queue.clientFile(head.claim()))) {
        return head;
      }
    }
  }

  /** The client's file for a row; none for a lease that is not renewed, on whose length the caller may count after a crash. */
  private @Nullable String file() {
    return claim.renewed() ? context.liveness().own() : null;
  }

  private Answer busy(SqliteSession session, LockRow row, boolean queued, long nowUs)
      throws SQLException {
    if (mode == Mode.QUEUE && row.lacksWord(context.client(), nowUs)) {
      session.locks.want(row.name(), context.client(), nowUs, nowUs + waiting.wordLastsUs());
    }
    return new Answer.Busy(queued, row.holderNow(), Optional.of(row.leaseLeft(nowUs)));
  }

  private Answer granted(long revision, Moment anchor, boolean othersWait) {
    return new Answer.Granted(new Grant(revision, anchor, claim.lease(), othersWait));
  }
}
