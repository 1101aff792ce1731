// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.Ticker;
import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where the connections of session locks come from, and what is known of it. A proxy that lends sessions out for a
 * transaction each would leave the lock with whoever comes next. That there is a proxy the driver knows; whether it
 * does that, a message shows that is sent from another connection. That is asked once, by one thread, while nobody who
 * waits for its answer has a connection: two for each of them would be more than a pool has.
 */
final class SessionSource {
  /** How long one thread's answer is waited for, before another one asks. Longer than it takes unless something hangs. */
  private static final int LONGEST_SECONDS = 5;

  private final DataSource dataSource;
  private final AtomicReference<@Nullable CompletableFuture<Boolean>> asking =
      new AtomicReference<>();
  private volatile boolean known;

  SessionSource(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  Connection connect() throws SQLException {
    return dataSource.getConnection();
  }

  /** Says whether sessions are known to stay with their connections, though a proxy stands in between. */
  boolean isKnown() {
    return known;
  }

  /**
   * Finds out whether sessions stay with their connections. Whoever calls this has no connection of this source.
   *
   * @throws ConfigurationException if they do not
   * @throws SQLException if it could not be found out
   */
  void requireSessions(LockKey name) throws SQLException {
    if (!isKnown() && !askOnce()) {
      throw new ConfigurationException(
          "lock \"" + name
              + "\" was not acquired: a proxy in front of PostgreSQL lends sessions out for a transaction"
              + " each, so that no session can hold a lock; connect to the server itself, or to a pool in session mode",
          "the database",
          null);
    }
  }

  @SuppressWarnings("ReferenceEquality") // whose answer it is
  private boolean askOnce() throws SQLException {
    CompletableFuture<Boolean> mine = new CompletableFuture<>();
    CompletableFuture<Boolean> hanging = null;
    CompletableFuture<Boolean> other = asking.compareAndExchange(null, mine);
    while (other != hanging) {
      if (other != null) {
        Optional<Boolean> answer = answerOf(other);
        if (answer.isPresent()) {
          return answer.get();
        }
      }
      hanging = other;
      other = asking.compareAndExchange(hanging, mine);
    }
    return askFor(mine);
  }

  private boolean askFor(CompletableFuture<Boolean> mine) throws SQLException {
    try {
      boolean kept = isKnown() || ask(mine);
      if (kept) {
        // only the good answer is kept: the other one may be a message that was slow
        known = true;
      }
      mine.complete(kept);
      return kept;
    } catch (Throwable e) {
      mine.completeExceptionally(e);
      throw e;
    } finally {
      asking.compareAndSet(mine, null);
    }
  }

  /** Empty if there is none for long: a data source may keep who asks waiting for ever. */
  private static Optional<Boolean> answerOf(CompletableFuture<Boolean> other) throws SQLException {
    try {
      return other
          .thenApply(Optional::of)
          .completeOnTimeout(Optional.empty(), LONGEST_SECONDS, TimeUnit.SECONDS)
          .join();
    } catch (CompletionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      String state = cause instanceof SQLException failure ? failure.getSQLState() : null;
      throw new SQLException(cause.getMessage(), state, cause);
    }
  }

  @SuppressWarnings("ReferenceEquality") // whose answer it is
  private boolean ask(CompletableFuture<Boolean> mine) throws SQLException {
    Connection first = connect();
    if (asking.get() != mine) {
      // another one asks by now: two with a connection each, and none left for the second that each needs, would wait for ever
      first.close();
      return askOnce();
    }
    return LentConnection.use(
        first,
        SessionConnection.ANSWER_MILLIS,
        lent -> PostgresProbe.comesBack(lent, this::say, Ticker.system()));
  }

  private void say(String channel) throws SQLException {
    Connection other;
    try {
      other = connect();
    } catch (SQLException e) {
      throw new SQLException(
          "a proxy stands in front of PostgreSQL, and there was no second connection, which is needed once, for a moment,"
              + " to find out whether it keeps sessions: " + JdbcErrors.masked(e),
          e.getSQLState(),
          e);
    }
    boolean unused = LentConnection.use(other, SessionConnection.ANSWER_MILLIS, lent -> {
      PostgresProbe.say(lent, channel);
      return true;
    });
  }
}
