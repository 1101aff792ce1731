// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.DaemonThread;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A session lock that is held, and the thread that asks its session twice a second whether it is still there. It ends
 * once: released, or lost. It does not refer to the {@link SessionHold}, so that one which nobody has any more is found.
 */
final class SessionWatch implements Runnable {
  private static final Logger LOG = System.getLogger(SessionWatch.class.getName());

  static final Duration PROBE_EVERY = Duration.ofMillis(500);

  /** A probe each interval, as long again for its answer as it may take, and an interval of grace. */
  static final Duration VALID_FOR =
      PROBE_EVERY.multipliedBy(2).plusMillis(SessionConnection.ANSWER_MILLIS);

  private final LockKey name;
  private final SessionConnection connection;
  private final Runnable onLost;
  private final CompletableFuture<@Nullable Void> lost = new CompletableFuture<>();

  /** Guards the connection, which one statement uses at a time, and the end. */
  private final ReentrantLock one = new ReentrantLock();

  private final Condition ends = one.newCondition();
  private volatile boolean ended;
  private volatile Moment proved;

  SessionWatch(LockKey name, SessionConnection connection, Moment proved, Runnable onLost) {
    this.name = name;
    this.connection = connection;
    this.proved = proved;
    this.onLost = onLost;
  }

  void start() {
    new DaemonThread(this, "holdfast-session " + name).start();
  }

  LockKey name() {
    return name;
  }

  boolean hasEnded() {
    return ended;
  }

  boolean isValid() {
    return !ended && Ticker.system().elapsedNanos(proved) < VALID_FOR.toNanos();
  }

  CompletableFuture<@Nullable Void> lost() {
    return lost;
  }

  @Override
  public void run() {
    Optional<Throwable> why = Optional.empty();
    one.lock();
    try {
      while (!ended && why.isEmpty()) {
        awaitProbe();
        if (!ended) {
          why = probe();
        }
      }
      ended = true;
    } finally {
      one.unlock();
    }
    why.ifPresent(this::tell);
  }

  private void awaitProbe() {
    try {
      long left = PROBE_EVERY.toNanos();
      while (left > 0 && !ended) {
        left = ends.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // nobody has this thread to interrupt it but by mistake: probe at once, and go on
      LOG.log(Level.DEBUG, "interrupted while watching lock \"" + name + "\"", e);
    }
  }

  /** Returns why the lock is lost; nothing if it is not. */
  private Optional<Throwable> probe() {
    Moment sent = Ticker.system().now();
    try {
      if (connection.isStillOurs()) {
        proved = sent;
        return Optional.empty();
      }
      return Optional.of(new SQLException("the lock is not this session's any more"));
    } catch (Throwable e) {
      return Optional.of(e);
    }
  }

  private void tell(Throwable why) {
    LOG.log(Level.WARNING, "lost lock=" + name + ": its session has ended", why);
    try {
      onLost.run();
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "onLost of lock \"" + name + "\" failed", e);
    } finally {
      // others' code may run with it, and closing may take its time: who holds the lock is told first
      lost.complete(null);
      connection.abort();
    }
  }

  /** Frees the lock. Returns whether it was still held until now. */
  boolean release() {
    one.lock();
    try {
      if (ended) {
        return false;
      }
      ended = true;
      ends.signalAll();
      connection.unlock();
      return true;
    } catch (SQLException | RuntimeException e) {
      LOG.log(Level.DEBUG, "lock \"" + name + "\" is freed by ending its session", e);
      connection.abort();
      return false;
    } finally {
      one.unlock();
    }
  }
}
