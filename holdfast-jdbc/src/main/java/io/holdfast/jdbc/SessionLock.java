// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.CheckReturnValue;
import io.holdfast.ConfigurationException;
import io.holdfast.HoldfastException;
import io.holdfast.Moment;
import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.spi.LockKey;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A lock that a connection holds until it is freed or the connection ends: {@code pg_advisory_lock} on PostgreSQL, {@code
 * GET_LOCK} on MySQL and MariaDB. {@link DataLocks#sessionLock} makes it.
 *
 * <pre>{@code
 * try (SessionHold hold = locks.sessionLock("nightly").acquire()) {
 *   while (printed < files && hold.isValid()) {
 *     printed++; // the next one
 *   }
 * }
 * }</pre>
 *
 * <p>Choose it for long work that needs no transaction open, such as a batch, on one database server, where
 * a connection for each hold is no matter. It needs no table and no clock, and the server frees the lock of a process that
 * dies at once. <b>It has no fencing token</b>: where a late write would do harm, take a lease with {@link FencingGuard}, or
 * a {@link RowLock}. It cannot be used through a proxy that pools by transaction (pgbouncer's transaction mode), where there
 * is no session: on PostgreSQL, with its own driver, that is found out, and refused with {@link ConfigurationException}. If
 * there is a proxy at all, two connections are borrowed for that, once for each {@link DataLocks}, for a moment: a pool of
 * one will not do there.
 *
 * <p>Names: PostgreSQL knows numbers only. The name's is the first 64 bits of the SHA-256 of its UTF-8, most significant
 * byte first, and is the database's own; another program that uses advisory locks may choose the same by chance of one in
 * 2<sup>64</sup>. MySQL and MariaDB know 64 characters without case, for the whole server: there a name of lower-case
 * letters, digits and {@code -_.:} is used as it is, every other one as a readable prefix, a {@code ~} and the first 128
 * bits of its SHA-256.
 *
 * <h2>Guarantees</h2>
 *
 * At most one session holds a name at a time on one server, for as long as it runs. Waiters have no order: each waits for
 * about a second at the server, and then again.
 *
 * <h2>Not guaranteed</h2>
 *
 * A server that is restarted, or replaced by another one, forgets; then, and when an operator ends the session, somebody
 * else may hold the lock before the loss is noticed here: by a probe each half second, which waits 2 s for its answer.
 *
 * <h2>Threads and memory</h2>
 *
 * Immutable and thread-safe. Holds belong to their handles. A hold has a connection and a thread that probes it; a wait has a
 * connection and a thread.
 *
 * <h2>Failure</h2>
 *
 * When the connection is lost, the hold is: {@link SessionHold#isValid} turns false for good, {@link SessionHold#lost} is
 * completed and the callback of {@link #onLost} is run. Nothing is acquired again by itself. A hold that is garbage-collected
 * without a release is released, with a warning.
 */
public final class SessionLock {
  private static final String STORE = "the database";

  private final LockKey name;
  private final SessionSource source;
  private final Runnable onLost;

  SessionLock(LockKey name, SessionSource source, Runnable onLost) {
    this.name = name;
    this.source = source;
    this.onLost = onLost;
  }

  /**
   * Returns the name.
   *
   * @return as it was given
   */
  public String name() {
    return name.name();
  }

  /**
   * Returns the same with a callback.
   *
   * @param callback run once if a hold is lost, on the thread that has watched it, after the hold has become invalid
   * @return a copy
   */
  public SessionLock onLost(Runnable callback) {
    return new SessionLock(name, source, Objects.requireNonNull(callback, "callback"));
  }

  /**
   * Waits until no other session holds the name, and holds it. Ways to return:
   *
   * <ul>
   *   <li>a hold;
   *   <li>{@link InterruptedException}: the thread was interrupted before or during the wait. The interrupt flag is cleared, and
   *       the wait is withdrawn in the background: its connection is closed, and with it goes what was granted meanwhile;
   *   <li>{@link StoreUnavailableException}: there was no connection, or it broke, or the database refused. Nothing is held. A
   *       server that does not answer is noticed after about 3 s.
   * </ul>
   *
   * @return the hold
   * @throws StoreUnavailableException if the database did not do it
   * @throws ConfigurationException if this is another kind of database, or a proxy that has no sessions
   * @throws InterruptedException if interrupted
   */
  @CheckReturnValue
  public SessionHold acquire() throws InterruptedException {
    return await(Optional.empty()).orElseThrow();
  }

  /**
   * As {@link #acquire()}, for a limited time. The wait for a connection counts; when the time has passed, the wait is
   * withdrawn as after an interrupt.
   *
   * @param waitAtMost the limit; zero or less is one look, as {@link #tryAcquire}
   * @return the hold
   * @throws AcquireTimeoutException if another session held it for all that time, or the database kept silent for it: the
   *     driver does not tell these apart
   * @throws StoreUnavailableException as {@link #acquire()}
   * @throws ConfigurationException as {@link #acquire()}
   * @throws InterruptedException as {@link #acquire()}
   */
  @CheckReturnValue
  public SessionHold acquire(Duration waitAtMost) throws InterruptedException {
    Objects.requireNonNull(waitAtMost, "waitAtMost");
    boolean looksOnce = waitAtMost.isZero() || waitAtMost.isNegative();
    return (looksOnce ? tryAcquire() : await(Optional.of(waitAtMost)))
        .orElseThrow(() -> new AcquireTimeoutException(name.name(), STORE, waitAtMost, null));
  }

  /**
   * Makes one attempt, which blocks until the data source gives a connection and then for the database's answer, up to 2 s. It
   * holds the name, unless another session holds it; it does not wait for that. An interrupt does not end it.
   *
   * @return the hold; empty only if another session has it
   * @throws StoreUnavailableException as {@link #acquire()}
   * @throws ConfigurationException as {@link #acquire()}
   */
  @CheckReturnValue
  public Optional<SessionHold> tryAcquire() {
    try {
      SessionConnection connection = SessionConnection.open(source, name);
      try {
        connection.expectAnswers();
        Moment sent = Ticker.system().now();
        if (connection.tryLock()) {
          return Optional.of(SessionHold.of(new SessionWatch(name, connection, sent, onLost)));
        }
        connection.giveBack();
        return Optional.empty();
      } catch (Throwable e) {
        // whatever was granted goes with its session
        connection.abort();
        throw e;
      }
    } catch (SQLException e) {
      throw unavailable(e);
    }
  }

  private Optional<SessionHold> await(Optional<Duration> limit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    SessionRequest request = new SessionRequest(name, source, onLost);
    CompletableFuture<SessionHold> answer = request.start();
    try {
      return Optional.of(
          limit.isEmpty()
              ? answer.get()
              : answer.get(TimeUnit.NANOSECONDS.convert(limit.get()), TimeUnit.NANOSECONDS));
    } catch (TimeoutException e) {
      return request.abandon();
    } catch (InterruptedException e) {
      request.abandonAndRelease();
      throw e;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof HoldfastException cause) {
        throw cause;
      }
      throw unavailable(e.getCause() == null ? e : e.getCause());
    }
  }

  private StoreUnavailableException unavailable(Throwable cause) {
    boolean refused = cause instanceof SQLException sql
        && sql.getSQLState() != null
        && (sql.getSQLState().startsWith("28") || sql.getSQLState().startsWith("42"));
    return new StoreUnavailableException(
        "lock \"" + name + "\" was not acquired: " + JdbcErrors.masked(cause),
        name.name(),
        STORE,
        refused ? Reason.REFUSED : Reason.UNREACHABLE,
        cause);
  }
}
