// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.spi.DaemonThread;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Listens to what releases say, with PostgreSQL's LISTEN, on a connection and a thread that exist only while somebody
 * waits, and a little longer. From when it listens on, every waiter looks once more, so that nothing falls between the look
 * before and the first message; from when it does not, the looks are as frequent as if there were no messages.
 *
 * <pre>
 *   off --needed--> connecting --probe came back, LISTEN--> listening --nobody has waited for a while--> off
 *                    ^    |  \                                  |
 *                    |    |   +--probe was swallowed, and the next--> off, for minutes: a proxy lends sessions out
 *                    +----+---------- broken, after a pause ----+
 * </pre>
 *
 * <p>{@code guard} guards the thread's end and its pauses. {@code running}, {@code listening}, {@code connection} are
 * written by the thread, but for {@code running}, which whoever starts it sets.
 */
final class PostgresListener implements Wakeups {
  private static final System.Logger LOG = System.getLogger(PostgresListener.class.getName());

  /** How long one wait for messages is: after it the thread sees whether it is still wanted. */
  private static final int SLICE_MILLIS = 1_000;

  private static final long IDLE_NANOS = 10_000_000_000L;

  /** A server that fell silent without closing the connection is noticed by a question after that. */
  private static final long SILENCE_NANOS = 5_000_000_000L;

  private static final long SHORTEST_PAUSE_NANOS = 100_000_000L;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;
  private static final long PROXY_NANOS = 600_000_000_000L;
  private static final int SWALLOWED_TO_BELIEVE = 2;

  /** Between two probes: a server, or this process, that stands still for a while is no proxy. */
  private static final long PROBE_AGAIN_NANOS = 5_000_000_000L;

  private static final long CLOSE_NANOS = 2_000_000_000L;

  private final JdbcContext context;
  private final Waiting waiting;
  private final JdbcLane lane;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition ended = guard.newCondition();

  private volatile boolean running;
  private volatile boolean listening;
  private volatile boolean closed;
  private volatile @Nullable Connection connection;

  /** The thread's own. */
  private long pauseNanos = SHORTEST_PAUSE_NANOS;

  private int swallowed;
  private boolean saidSo;
  private volatile boolean avoids;
  private volatile long avoidsUntilNanos;

  PostgresListener(JdbcContext context, JdbcLane lane, Waiting waiting) {
    this.context = context;
    this.waiting = waiting;
    this.lane = lane;
  }

  @Override
  public boolean areComing() {
    return listening;
  }

  @Override
  public void needed() {
    if (running || closed || isAvoided()) {
      return;
    }
    guard.lock();
    try {
      if (!running && !closed) {
        running = true;
        start();
      }
    } finally {
      guard.unlock();
    }
  }

  private boolean isAvoided() {
    return avoids && context.runtime().ticker().nanos() - avoidsUntilNanos < 0;
  }

  private void start() {
    Thread thread = new DaemonThread(this::run, "holdfast-jdbc-listener");
    try {
      thread.start();
    } catch (Error e) {
      // no more threads can be made: waiters look, and who comes later tries again
      running = false;
      LOG.log(Level.ERROR, "store=" + context.store() + " no thread could be made", e);
    }
  }

  private void run() {
    boolean over = false;
    try {
      while (goesOn()) {
        try {
          connectAndListen();
          pauseNanos = SHORTEST_PAUSE_NANOS;
          if (swallowed > 0) {
            pause(PROBE_AGAIN_NANOS);
          }
        } catch (SQLException | RuntimeException e) {
          if (!closed) {
            LOG.log(Level.DEBUG, "store=" + context.store() + " does not listen, waiters look", e);
            pause(pauseNanos);
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
          }
        }
      }
      over = true;
    } finally {
      // after a regular end the next thread may be running already, and what is here is its own
      if (!over) {
        end();
      }
    }
  }

  private void end() {
    guard.lock();
    try {
      running = false;
      ended.signalAll();
    } finally {
      guard.unlock();
    }
  }

  /**
   * Says whether somebody may want to hear. Who comes after this has said no finds {@code running} false, and who came
   * before is seen: a waiter is there before it asks for a listener.
   */
  private boolean goesOn() {
    guard.lock();
    try {
      running = false;
      if (closed || isAvoided() || waiting.isEmpty()) {
        ended.signalAll();
        return false;
      }
      running = true;
      return true;
    } finally {
      guard.unlock();
    }
  }

  private void pause(long nanos) {
    guard.lock();
    try {
      long left = nanos;
      while (left > 0 && !closed) {
        left = ended.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // nobody interrupts this thread but close()
      LOG.log(Level.TRACE, "store={0} closed", context.store());
    } finally {
      guard.unlock();
    }
  }

  private void connectAndListen() throws SQLException {
    Connection opened = context.source().connectAside();
    connection = opened;
    boolean good = false;
    try {
      if (closed) {
        return;
      }
      int timeoutBefore = opened.getNetworkTimeout();
      boolean autoCommitBefore = opened.getAutoCommit();
      // first of all: every question after it may be the one that is not answered
      opened.setNetworkTimeout(Runnable::run, context.timeoutMillis());
      JdbcSession.rollBackWhatWasLeftOpen(opened, autoCommitBefore);
      opened.setAutoCommit(true);
      if (Pgjdbc.isBehind(opened)) {
        probeAndListen(opened);
      } else {
        avoid();
        LOG.log(Level.DEBUG, "store={0} another driver: waiters look", context.store());
      }
      PostgresProbe.execute(opened, "UNLISTEN *");
      opened.setAutoCommit(autoCommitBefore);
      opened.setNetworkTimeout(Runnable::run, timeoutBefore);
      good = true;
    } finally {
      connection = null;
      if (good) {
        opened.close();
      } else {
        abort(opened);
      }
    }
  }

  private void probeAndListen(Connection opened) throws SQLException {
    if (!PostgresProbe.comesBack(opened, this::say, context.runtime().ticker())) {
      swallowed++;
      if (swallowed >= SWALLOWED_TO_BELIEVE) {
        swallowed = 0;
        avoid();
        sayOnce();
      }
      return;
    }
    swallowed = 0;
    String channel = PostgresProbe.channel(opened, context.options().tables());
    PostgresProbe.execute(opened, "LISTEN \"" + channel + '"');
    pauseNanos = SHORTEST_PAUSE_NANOS;
    listening = true;
    try {
      waiting.lookAll();
      listen(opened, channel);
    } finally {
      listening = false;
      waiting.lookAll();
    }
  }

  /** Says something on one of the other connections. */
  private void say(String channel) throws SQLException {
    try {
      String unused = lane.submit(session -> {
            PostgresProbe.say(session.connection(), channel);
            return channel;
          })
          .get(context.timeoutMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new SQLException("no connection could send the listener a message", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException("interrupted", e);
    }
  }

  private void listen(Connection opened, String channel) throws SQLException {
    long heardNanos = context.runtime().ticker().nanos();
    long neededNanos = heardNanos;
    while (!closed) {
      boolean heard = false;
      for (Pgjdbc.Message each : Pgjdbc.await(opened, SLICE_MILLIS)) {
        heard = true;
        waiting.heard(each.payload());
      }
      long now = context.runtime().ticker().nanos();
      if (heard) {
        heardNanos = now;
      } else if (now - heardNanos >= SILENCE_NANOS) {
        if (!PostgresProbe.channel(opened, context.options().tables()).equals(channel)) {
          // the tables were made anew: releases speak to another channel
          return;
        }
        heardNanos = now;
      }
      if (!waiting.isEmpty()) {
        neededNanos = now;
      } else if (now - neededNanos >= IDLE_NANOS) {
        return;
      }
    }
  }

  private void avoid() {
    avoidsUntilNanos = context.runtime().ticker().nanos() + PROXY_NANOS;
    avoids = true;
  }

  private void sayOnce() {
    if (!saidSo) {
      saidSo = true;
      LOG.log(
          Level.WARNING,
          "store={0} a proxy in front of PostgreSQL lends sessions out for a transaction each, so that nothing can be"
              + " listened to: waiters poll. Name the server itself, or a pool in session mode, for hand-overs within a"
              + " millisecond or two",
          context.store());
    }
  }

  private void abort(Connection opened) {
    Broken.end(opened, "store=" + context.store());
  }

  @Override
  public void close() {
    closed = true;
    guard.lock();
    try {
      ended.signalAll();
    } finally {
      guard.unlock();
    }
    Connection open = connection;
    if (open != null) {
      // it waits for messages, and nothing else would end that at once
      abort(open);
    }
    awaitEnd();
  }

  private void awaitEnd() {
    long left = CLOSE_NANOS;
    guard.lock();
    try {
      while (running && left > 0) {
        left = ended.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      guard.unlock();
    }
  }
}
