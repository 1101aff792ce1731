// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;

/** A connection that a caller uses on its own thread while that waits for the answer. Guarded by its lane's guard. */
final class Loan {
  private final Thread thread;
  private final Moment since;
  private final JdbcSession session;
  private boolean ended;

  /**
   * Begins a loan.
   *
   * @param thread the caller's
   * @param since when the request was made
   * @param session what it uses
   */
  Loan(Thread thread, Moment since, JdbcSession session) {
    this.thread = thread;
    this.since = since;
    this.session = session;
  }

  JdbcSession session() {
    return session;
  }

  /**
   * Says, until {@link #end}, that the caller should not be kept any longer by a server that does not answer.
   *
   * @param interruptedAfterNanos how long the answer may take after an interrupt
   */
  boolean isToBeEnded(JdbcContext context, long interruptedAfterNanos) {
    boolean tooLong = context.isOverdue(since)
        || (thread.isInterrupted()
            && context.runtime().ticker().elapsedNanos(since) >= interruptedAfterNanos);
    return tooLong && !ended;
  }

  /** It is being hung up on: whatever the caller is answered, nobody else may use the connection. */
  void end() {
    ended = true;
  }

  boolean isEnded() {
    return ended;
  }
}
