// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.StoreException;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Where one connection of a lane is used, by one thread at a time: its worker's, or that of a caller who borrows it. What
 * they leave here is handed on with the lane's guard.
 */
final class JdbcSeat {
  private static final System.Logger LOG = System.getLogger(JdbcSeat.class.getName());
  private static final long LONGEST_PAUSE_NANOS = 10_000_000L;
  private static final long RESTED_NANOS = 20_000_000_000L;

  private final JdbcContext context;
  private final JdbcLane lane;

  /** Also read by who closes the lane. */
  private volatile @Nullable JdbcSession session;

  private long usedNanos;

  /** Why there is no session; told to the next request. */
  private @Nullable StoreException failure;

  JdbcSeat(JdbcContext context, JdbcLane lane) {
    this.context = context;
    this.lane = lane;
  }

  /** What was to be done needs another connection, which may take long to come by. */
  static final class Disconnected extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Disconnected() {
      super("no connection", null, false, false);
    }
  }

  @Nullable
  JdbcSession session() {
    return session;
  }

  /** Borrows a connection; if there is none, the next request is told why. */
  boolean connects() {
    try {
      session = open();
      failure = null;
      return true;
    } catch (StoreException e) {
      failure = e;
      return false;
    }
  }

  /**
   * Does something, again if the database rolled it back in favour of another, within the request's time.
   *
   * @param asked when the request was made
   * @param lent whether a caller does, on its own thread
   * @throws Disconnected to a caller, if that has to go on elsewhere
   */
  <T> T call(Moment asked, JdbcLane.Work<T> work, boolean lent) {
    long pause = LONGEST_PAUSE_NANOS / 16;
    while (true) {
      if (lane.isClosed()) {
        throw JdbcErrors.closed(context.store());
      }
      StoreException told = failure;
      if (told != null) {
        failure = null;
        throw told;
      }
      if (context.isOverdue(asked)) {
        throw JdbcErrors.crowded(context.store());
      }
      JdbcSession ready = ready(lent);
      // each statement has a time-out of its own, and a caller is not to wait for several
      ready.giveUpWhen(lent ? () -> context.isOverdue(asked) : JdbcSession.NEVER);
      try {
        T answer = work.in(ready);
        usedNanos = context.runtime().ticker().nanos();
        return answer;
      } catch (SQLException e) {
        JdbcErrors.Kind kind = context.dialect().kind(e);
        boolean again = kind == JdbcErrors.Kind.AGAIN || kind == JdbcErrors.Kind.ANEW;
        boolean givesUp = !again || context.isOverdue(asked);
        if (kind != JdbcErrors.Kind.AGAIN || givesUp) {
          drop(ready);
        }
        if (givesUp) {
          throw JdbcErrors.ofStatement(context.store(), kind, e);
        }
      } catch (Throwable thrown) {
        // undeclared ones too, of an application's own connection
        drop(ready);
        throw thrown;
      }
      if (lent && Thread.currentThread().isInterrupted()) {
        // a caller that was interrupted meanwhile cannot pause
        throw new Disconnected();
      }
      lane.pause(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
    }
  }

  private JdbcSession ready(boolean lent) {
    JdbcSession known = session;
    if (known != null && isGood(known)) {
      return known;
    }
    if (lent) {
      throw new Disconnected();
    }
    JdbcSession opened = open();
    session = opened;
    if (lane.isClosed()) {
      // close() has not seen it
      drop(opened);
      throw JdbcErrors.closed(context.store());
    }
    return opened;
  }

  private JdbcSession open() {
    try {
      JdbcSession opened = context.open();
      usedNanos = context.runtime().ticker().nanos();
      return opened;
    } catch (SQLException e) {
      throw JdbcErrors.ofConnecting(context.store(), kindOfConnecting(e), e);
    } catch (Throwable e) {
      // a pool's, or a driver's, own; a class that is missing, or memory that is used up, says little without its name
      throw JdbcErrors.ofConnecting(
          context.store(), JdbcErrors.Kind.BROKEN, new SQLException(e.toString(), e));
    }
  }

  /** One that rested for long may have been hung up on without a word. */
  private boolean isGood(JdbcSession known) {
    if (context.runtime().ticker().nanos() - usedNanos < RESTED_NANOS) {
      return true;
    }
    try {
      if (known.isAlive(1)) {
        return true;
      }
    } catch (SQLException e) {
      LOG.log(Level.DEBUG, "store=" + context.store() + " a connection could not be asked", e);
    }
    drop(known);
    return false;
  }

  private JdbcErrors.Kind kindOfConnecting(SQLException e) {
    return context.dialect().kind(ConnectionTrouble.driversOwn(e));
  }

  private void drop(JdbcSession broken) {
    session = null;
    broken.abort();
  }

  /** Somebody hangs up on a connection: nobody uses it here any more. */
  void forget(JdbcSession doomed) {
    if (doomed.equals(session)) {
      session = null;
    }
  }

  /** Gives the connection back, if there is one. */
  void giveBack() {
    JdbcSession last = session;
    if (last != null) {
      // it stays known until then: a server that does not answer any more can be hung up on
      last.giveBack();
      session = null;
    }
  }
}
