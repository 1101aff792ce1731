// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import io.holdfast.spi.LockKey;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A wait for a session lock, on a thread of its own: a driver's wait hears no interrupt and has no deadline, so whoever
 * asked waits beside it and may go away. What is granted after that goes with its session, which is ended.
 */
final class SessionRequest implements Runnable {
  private final LockKey name;
  private final SessionSource source;
  private final Runnable onLost;
  private final CompletableFuture<SessionHold> answer = new CompletableFuture<>();

  /** Decides whether a grant comes first, or the end of the wait. */
  private final ReentrantLock first = new ReentrantLock();

  private boolean abandoned;
  private @Nullable SessionConnection waiting;

  SessionRequest(LockKey name, SessionSource source, Runnable onLost) {
    this.name = name;
    this.source = source;
    this.onLost = onLost;
  }

  CompletableFuture<SessionHold> start() {
    daemon("holdfast-wait " + name, this);
    return answer;
  }

  private static void daemon(String title, Runnable task) {
    new DaemonThread(task, title).start();
  }

  @Override
  public void run() {
    try {
      SessionConnection connection = SessionConnection.open(source, name);
      try {
        if (isWanted(connection)) {
          grant(connection);
        }
      } catch (Throwable e) {
        connection.abort();
        throw e;
      }
    } catch (Throwable e) {
      answer.completeExceptionally(e);
    }
  }

  private void grant(SessionConnection connection) throws SQLException {
    while (!connection.lock()) {
      if (!isWanted(connection)) {
        return;
      }
    }
    connection.expectAnswers();
    // the wait may have begun long ago: valid from a question that is asked now
    Moment sent = Ticker.system().now();
    if (!connection.isStillOurs()) {
      throw new SQLException("the lock was not this session's when it was asked for it");
    }
    first.lock();
    try {
      if (!abandoned) {
        answer.complete(SessionHold.of(new SessionWatch(name, connection, sent, onLost)));
        return;
      }
    } finally {
      first.unlock();
    }
    connection.abort();
  }

  /** Makes the connection known to whoever ends the wait; says no, and closes it, if that has happened already. */
  private boolean isWanted(SessionConnection connection) {
    first.lock();
    try {
      waiting = connection;
      if (!abandoned) {
        return true;
      }
    } finally {
      first.unlock();
    }
    connection.abort();
    return false;
  }

  /** Ends the wait, and releases what was granted before; in the background, since that waits for the database. */
  void abandonAndRelease() {
    abandon().ifPresent(hold -> daemon("holdfast-release " + name, hold::close));
  }

  /**
   * Ends the wait, in the background.
   *
   * @return the hold, if it came first
   */
  Optional<SessionHold> abandon() {
    SessionConnection connection;
    first.lock();
    try {
      if (answer.isDone() && !answer.isCompletedExceptionally()) {
        return Optional.of(answer.join());
      }
      abandoned = true;
      connection = waiting;
    } finally {
      first.unlock();
    }
    if (connection != null) {
      // a server that is not told keeps the wait in its queue; told or not, this connection is never used again, so
      // that a late cancel meets nobody
      CompletableFuture<@Nullable Void> told = new CompletableFuture<>();
      daemon("holdfast-cancel " + name, () -> {
        connection.cancel();
        told.complete(null);
      });
      // a driver may open a connection to tell it, which can take as long as the server likes
      var unused = told.completeOnTimeout(
              null, SessionConnection.ANSWER_MILLIS, TimeUnit.MILLISECONDS)
          .thenRunAsync(connection::abort, task -> daemon("holdfast-abort " + name, task));
    }
    return Optional.empty();
  }
}
