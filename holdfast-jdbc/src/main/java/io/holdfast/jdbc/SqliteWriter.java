// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Attempts and ends. A request runs on the thread that brings it if that waits for the outcome, the connection is free,
 * the file is not busy, and nobody stands in line; that is the usual case, and costs no change of threads. Else it stands
 * in line, and the writer's thread takes what waits there, several requests in one transaction. A thread that does not
 * wait, the engine's timer above all, is never kept by a disk that stands still: it has to tell losses meanwhile.
 *
 * <p>Requests are never reordered once they stand in line, and nothing passes by the line. An {@code end} that is
 * called after an {@code attempt} has returned is therefore run after it, whatever the clocks say.
 *
 * <p>On a busy file the first in line is tried again after short pauses until its time is over; the others behind it
 * would find the file just as busy.
 */
final class SqliteWriter {
  private static final int AT_ONCE = 64;

  private final SqliteContext context;
  private final SqliteLane lane;
  private final SqliteBackoff backoff;
  private final ConcurrentLinkedQueue<SqliteRequest<?>> line = new ConcurrentLinkedQueue<>();
  private final AtomicInteger standing = new AtomicInteger();

  SqliteWriter(SqliteContext context, SqliteDatabase database) {
    this(context, new SqliteLane("writer", context, database));
  }

  SqliteWriter(SqliteContext context, SqliteLane lane) {
    this.context = context;
    this.lane = lane;
    backoff = new SqliteBackoff(context.split());
  }

  <T> CompletionStage<T> submit(SqliteRequest<T> request) {
    boolean waits = context.runtime().callerWaits().getAsBoolean();
    if (waits && standing.get() == 0 && lane.turn.tryLock()) {
      boolean done;
      try {
        done = runHere(request);
        if (done) {
          // Still with the turn: an end that follows must not be overtaken by what its attempt leaves behind.
          request.conclude();
        }
      } finally {
        lane.turn.unlock();
      }
      if (done) {
        return request.outcome();
      }
    }
    return standInLine(request);
  }

  private boolean runHere(SqliteRequest<?> request) {
    SqliteSession session = lane.ready(request.asked.nanos());
    if (session != null) {
      tryAlone(request, session);
    }
    return request.isDone();
  }

  /** Leaves the request without an outcome if the file is busy. */
  private void tryAlone(SqliteRequest<?> request, SqliteSession session) {
    try {
      request.runAlone(session);
    } catch (SQLException e) {
      if (!SqliteErrors.isBusy(e)) {
        request.fail(lane.failure(e));
      }
    } catch (RuntimeException | Error e) {
      request.fail(e);
    }
  }

  private <T> CompletionStage<T> standInLine(SqliteRequest<T> request) {
    CompletionStage<T> promise = request.promise();
    line.add(request);
    if (standing.getAndIncrement() == 0) {
      try {
        lane.execute(this::serve);
      } catch (RejectedExecutionException e) {
        sendAway(SqliteErrors.closed(context.store()));
      } catch (RuntimeException | Error e) {
        // no thread could be made: whoever comes next finds an empty line, and tries to have one
        sendAway(e);
      }
    }
    return promise;
  }

  /** Serves the line until nobody stands in it. One thread at a time: whoever came to an empty line starts it. */
  private void serve() {
    List<SqliteRequest<?>> batch = new ArrayList<>();
    int served;
    do {
      backoff.reset();
      try {
        fill(batch);
        while (!tryAll(batch)) {
          backoff.pause();
          keptOut(batch);
        }
      } catch (RuntimeException | Error e) {
        // no memory for the try itself: the requests behind it are served all the same
        failAll(batch, e);
      }
      served = batch.size();
      for (SqliteRequest<?> request : batch) {
        request.settle();
      }
      batch.clear();
    } while (standing.addAndGet(-served) > 0);
  }

  private void fill(List<SqliteRequest<?>> batch) {
    SqliteRequest<?> next;
    while (batch.size() < AT_ONCE && (next = line.poll()) != null) {
      batch.add(next);
    }
  }

  /** Tries those without an outcome; true when none is left. */
  private boolean tryAll(List<SqliteRequest<?>> batch) {
    List<SqliteRequest<?>> open = new ArrayList<>(batch);
    open.removeIf(SqliteRequest::isDone);
    if (open.isEmpty()) {
      return true;
    }
    lane.turn.lock();
    try {
      if (open.size() == 1 || !together(open)) {
        oneByOne(open);
      }
    } catch (SQLException e) {
      if (!SqliteErrors.isBusy(e)) {
        failAll(open, lane.failure(e));
      }
    } catch (RuntimeException | Error e) {
      failAll(open, e);
    } finally {
      lane.turn.unlock();
    }
    open.removeIf(SqliteRequest::isDone);
    return open.isEmpty();
  }

  /**
   * All in one transaction; false if one of them failed and none was done. If reading or writing the file failed, nobody
   * knows how far the commit came: then it throws.
   */
  private boolean together(List<SqliteRequest<?>> requests) throws SQLException {
    SqliteSession session = lane.open(context.now().nanos());
    session.connection.begin();
    try {
      for (SqliteRequest<?> request : requests) {
        request.runAmongOthers(session);
      }
      session.connection.commit();
      return true;
    } catch (SQLException e) {
      requests.forEach(SqliteRequest::undo);
      session.connection.rollbackAfter(e);
      if (SqliteErrors.isUnknown(e)) {
        throw e;
      }
      lane.drop();
      return false;
    } catch (RuntimeException | Error e) {
      requests.forEach(SqliteRequest::undo);
      session.connection.rollbackAfter(e);
      return false;
    }
  }

  /** Each for itself, so that each fails for itself; stops where the file is busy. */
  private void oneByOne(List<SqliteRequest<?>> requests) throws SQLException {
    for (SqliteRequest<?> request : requests) {
      // A failure before may have closed the session.
      tryAlone(request, lane.open(context.now().nanos()));
      if (!request.isDone()) {
        return;
      }
    }
  }

  /** Those whose time is over by now were kept out by somebody else: that is not the same as having come too late. */
  private void keptOut(List<SqliteRequest<?>> requests) {
    Moment now = context.now();
    for (SqliteRequest<?> request : requests) {
      request.keptOut();
      if (!request.isDone() && lane.isClosed()) {
        request.fail(SqliteErrors.closed(context.store()));
      } else if (!request.isDone() && request.isOverdue(now)) {
        request.fail(SqliteErrors.busyTooLong(context.store(), null));
      }
    }
  }

  private static void failAll(List<SqliteRequest<?>> requests, Throwable why) {
    for (SqliteRequest<?> request : requests) {
      if (!request.isDone()) {
        request.fail(why);
      }
    }
  }

  private void sendAway(Throwable why) {
    SqliteRequest<?> request;
    while ((request = line.poll()) != null) {
      request.fail(why);
      request.settle();
      standing.decrementAndGet();
    }
  }

  void close() {
    lane.close();
    sendAway(SqliteErrors.closed(context.store()));
  }
}
