// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import io.holdfast.spi.DurationText;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A source that may have no limit for how long it looks for a connection: the application's, or a driver. Each is asked for on a
 * thread of its own, and waited for so long only: the one thread that renews would otherwise be stuck with the first
 * question that is not answered.
 *
 * <p>A connection that comes late goes to whoever waits for one by then, so that giving up costs no place in the line of a
 * pool that is used up; if nobody does, it is given back.
 *
 * <p>{@code guard} guards waits, what is in them, asked, askedNanos, pause, threads and closed.
 */
final class LimitedSource implements JdbcSource {
  private static final System.Logger LOG = System.getLogger(LimitedSource.class.getName());
  private static final Duration SHORTEST_LIMIT = Duration.ofSeconds(5);

  /** How it begins that a server has not answered: then how long it was waited for. */
  static final String NO_ANSWER = "the server gave no connection within ";

  /** How many that are not waited for any more may be on their way when another one is asked for. */
  static final int MOST_LATE = 8;

  /**
   * After this one more is asked for all the same, since the others may have been asked of a server that is gone; then after
   * twice that, and so on up to {@link #RARELY}.
   */
  static final Duration ONE_MORE = Duration.ofSeconds(30);

  private static final Duration RARELY = Duration.ofMinutes(10);

  /** How long {@link #close()} waits for those who are interrupted. Drivers may hear no interrupt while they connect. */
  private static final Duration CLOSE = Duration.ofSeconds(2);

  private final JdbcSource source;
  private final long limitNanos;
  private final long closeNanos;
  private final Ticker ticker;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition over = guard.newCondition();
  private final Deque<Wait> waits = new ArrayDeque<>();

  /** Those for whom a connection is on its way, whether they still wait or not; the first one was asked for first. */
  private final Deque<Wait> asked = new ArrayDeque<>();

  private long askedNanos;
  private Duration pause = ONE_MORE;

  /** All that are in the source, or give back what nobody waited for. */
  private final Set<Thread> threads = new HashSet<>();

  private boolean closed;

  /** What the source said when nobody waited for it any more, unless it has given a connection since. */
  private volatile @Nullable Throwable unheard;

  /** Somebody who waits, and what came of it. */
  private static final class Wait {
    @Nullable
    Connection connection;

    @Nullable
    Throwable failure;

    boolean isOver() {
      return connection != null || failure != null;
    }
  }

  LimitedSource(JdbcSource source, Duration limit, Ticker ticker) {
    this(source, limit, CLOSE, ticker);
  }

  LimitedSource(JdbcSource source, Duration limit, Duration closeLimit, Ticker ticker) {
    this.source = source;
    this.limitNanos = limit.toNanos();
    this.closeNanos = closeLimit.toNanos();
    this.ticker = ticker;
  }

  /** The same for a store whose requests have so long: twice that, and five seconds at least. */
  static JdbcSource of(JdbcSource source, Duration requestTimeout, Ticker ticker) {
    Duration twice = requestTimeout.multipliedBy(2);
    return new LimitedSource(
        source, twice.compareTo(SHORTEST_LIMIT) > 0 ? twice : SHORTEST_LIMIT, ticker);
  }

  @Override
  public Connection connect() throws SQLException {
    Wait mine = new Wait();
    guard.lock();
    try {
      if (closed) {
        throw whenClosed();
      }
      waits.addLast(mine);
      if (asked.size() < waits.size() + MOST_LATE) {
        ask(mine);
      } else if (ticker.nanos() - askedNanos >= pause.toNanos()) {
        ask(mine);
        Duration twice = pause.multipliedBy(2);
        pause = twice.compareTo(RARELY) < 0 ? twice : RARELY;
      }
      long left = limitNanos;
      while (!mine.isOver() && left > 0) {
        left = over.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // whoever closes the store does not want to wait
      Thread.currentThread().interrupt();
      if (!mine.isOver()) {
        mine.failure = whenClosed();
      }
    } finally {
      waits.remove(mine);
      guard.unlock();
    }
    return resultOf(mine);
  }

  /** Of one that is not served any more. */
  private Connection resultOf(Wait mine) throws SQLException {
    if (mine.failure instanceof Error error) {
      throw error;
    }
    if (mine.failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (mine.failure instanceof SQLException failure) {
      throw failure;
    }
    if (mine.failure != null) {
      // a source that is not written in Java may throw what its method does not declare
      throw new SQLException(mine.failure.toString(), "08001", mine.failure);
    }
    Connection connection = mine.connection;
    if (connection == null) {
      throw new SQLTransientConnectionException(
          (source.isOurs() ? NO_ANSWER : "the data source gave no connection within ")
              + DurationText.of(Duration.ofNanos(limitNanos)),
          "08001",
          unheard);
    }
    return connection;
  }

  private static SQLException whenClosed() {
    return new SQLNonTransientConnectionException("the store is closed", "08003");
  }

  /** To be called with the guard. */
  private void ask(Wait mine) {
    Thread thread = new DaemonThread(() -> bring(mine), "holdfast-jdbc-connect");
    thread.start();
    threads.add(thread);
    asked.addLast(mine);
    askedNanos = ticker.nanos();
  }

  private void bring(Wait mine) {
    try {
      bringTo(mine);
    } finally {
      guard.lock();
      try {
        threads.remove(Thread.currentThread());
        over.signalAll();
      } finally {
        guard.unlock();
      }
    }
  }

  private void bringTo(Wait mine) {
    Connection connection = null;
    Throwable failure = null;
    try {
      connection = source.connect();
    } catch (Throwable e) {
      failure = e;
    }
    if (!serve(mine, connection, failure) && connection != null) {
      try {
        connection.close();
      } catch (SQLException | RuntimeException e) {
        LOG.log(Level.DEBUG, "a connection that came late could not be given back", e);
      }
    }
  }

  /** Says whether somebody has it now. A failure is told to nobody but the one who asked, if that one waits still. */
  private boolean serve(Wait mine, @Nullable Connection connection, @Nullable Throwable failure) {
    guard.lock();
    try {
      done(mine, connection != null);
      Wait to = waits.contains(mine) && !mine.isOver() ? mine : null;
      if (to == null && connection != null) {
        to = waits.stream().filter(each -> !each.isOver()).findFirst().orElse(null);
      }
      if (to != null) {
        to.connection = connection;
        to.failure = failure;
        over.signalAll();
      } else if (failure != null) {
        // who asks next, and waits in vain too, is told why
        unheard = failure;
      }
      return to != null;
    } finally {
      guard.unlock();
    }
  }

  /** To be called with the guard. The source answers: who was asked for before that, and hangs, does not count any more. */
  private void done(Wait mine, boolean came) {
    if (came) {
      unheard = null;
      pause = ONE_MORE;
    }
    if (came && asked.contains(mine)) {
      while (!mine.equals(asked.peekFirst())) {
        asked.removeFirst();
      }
    }
    asked.remove(mine);
  }

  /** An application's data source makes no difference. */
  @Override
  public Connection connectAside() throws SQLException {
    return connect();
  }

  @Override
  public boolean sparesOne() {
    return source.sparesOne();
  }

  @Override
  public boolean isOurs() {
    return source.isOurs();
  }

  /**
   * Who waits is told, and who asks for it is interrupted, and waited for: a pool would give a connection that others need
   * to somebody who has no use for it any more. An interrupt does not shorten that, and stays. A second call does nothing.
   */
  @Override
  public void close() {
    boolean interrupted = Thread.interrupted();
    guard.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      for (Wait each : waits) {
        if (!each.isOver()) {
          each.failure = whenClosed();
        }
      }
      over.signalAll();
      threads.forEach(Thread::interrupt);
      interrupted |= awaitEnd();
    } finally {
      guard.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    source.close();
  }

  /** Says whether there was an interrupt. To be called with the guard. */
  private boolean awaitEnd() {
    boolean interrupted = false;
    long begin = ticker.nanos();
    long left = closeNanos;
    while (!threads.isEmpty() && left > 0) {
      try {
        long unused = over.awaitNanos(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = closeNanos - (ticker.nanos() - begin);
    }
    return interrupted;
  }
}
