// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Something that is asked of the writer: run at once on the caller's thread, or later among others on the writer's. May
 * be run again after it was rolled back or found the file busy, until it has an outcome.
 */
abstract class SqliteRequest<T> {
  final Moment asked;
  private @Nullable T answer;
  private @Nullable Throwable failure;
  private @Nullable CompletableFuture<T> stage;
  private boolean wasKeptOut;

  SqliteRequest(Moment asked) {
    this.asked = asked;
  }

  /** Does it, inside a transaction or not. */
  abstract T run(SqliteSession session) throws SQLException;

  /** Whether several statements of it belong together. */
  abstract boolean needsTransaction();

  /** Whether it is too late to try it once more. */
  abstract boolean isOverdue(Moment now);

  /** Called once it is answered and committed, before any later request is. */
  void answered(T answer) {}

  /** Called once it has failed. */
  void failed() {}

  /** Runs it alone. */
  final void runAlone(SqliteSession session) throws SQLException {
    if (!needsTransaction()) {
      answer = run(session);
      return;
    }
    session.connection.begin();
    try {
      answer = run(session);
      session.connection.commit();
    } catch (SQLException | RuntimeException | Error e) {
      answer = null;
      session.connection.rollbackAfter(e);
      throw e;
    }
  }

  /** Runs it within a transaction of several. */
  final void runAmongOthers(SqliteSession session) throws SQLException {
    answer = run(session);
  }

  /** Forgets the answer of a run that was rolled back. */
  final void undo() {
    answer = null;
  }

  final void fail(Throwable why) {
    failure = why;
  }

  /** The file was busy when it was tried. */
  final void keptOut() {
    wasKeptOut = true;
  }

  final boolean wasKeptOut() {
    return wasKeptOut;
  }

  final boolean isDone() {
    return answer != null || failure != null;
  }

  /** Promises an outcome for later. */
  final CompletionStage<T> promise() {
    CompletableFuture<T> promised = new CompletableFuture<>();
    stage = promised;
    return promised;
  }

  /** Draws the conclusions of the outcome; what goes wrong with that is this request's failure, not that of those behind it. */
  final void conclude() {
    try {
      if (failure != null) {
        failed();
      } else {
        answered(Objects.requireNonNull(answer));
      }
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  /** Gives the outcome at once. */
  final CompletionStage<T> outcome() {
    return failure != null
        ? CompletableFuture.failedFuture(failure)
        : CompletableFuture.completedFuture(Objects.requireNonNull(answer));
  }

  /** Concludes, and keeps the promise. */
  final void settle() {
    conclude();
    CompletableFuture<T> promised = Objects.requireNonNull(stage);
    if (failure != null) {
      promised.completeExceptionally(failure);
    } else {
      promised.complete(Objects.requireNonNull(answer));
    }
  }
}
