// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.ConfigurationException;
import io.holdfast.Ticker;
import io.holdfast.WriteUnknownException;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Work that is done without waiting for anybody, and is committed only if nobody else has committed under the same name
 * in the meantime; else it is rolled back and done again. {@link DataLocks#optimistic} makes it.
 *
 * <pre>{@code
 * locks.optimistic("account:42").run(connection -> withdraw(connection, 42, amount));
 * }</pre>
 *
 * <p>Choose it where conflicts are rare, or where the work reads long and writes shortly: no lock is held until the end, and
 * two who do not meet cost nothing but a read and an update of a version. Under contention the work is done again and again,
 * and {@link RowLock} is better. Where one row has all the data, {@link VersionColumn} does it without a table of ours. The
 * work must have no effects beyond its connection, or ones that may be repeated.
 *
 * <p>The versions are in the table {@code holdfast_version}, a row for each name; rows stay. A {@link RowLock} of the same
 * name has nothing to do with it.
 *
 * <h2>Guarantees</h2>
 *
 * All that is committed under one name is as if it had been done one after the other, as far as the work reads and
 * writes only what is under that name, at READ COMMITTED or a higher isolation. What was not committed has changed nothing.
 *
 * <h2>Not guaranteed</h2>
 *
 * Progress of each: with bad luck it meets a conflict every time, until its limit. Under READ COMMITTED an attempt that
 * will be rolled back may read parts from before and from after another commit: work that fails on such data fails the call,
 * since nobody can tell why it failed.
 *
 * <h2>Threads</h2>
 *
 * Immutable and thread-safe. The work runs on the calling thread.
 */
public final class OptimisticLock {
  private static final int ATTEMPTS = 50;
  private static final Duration TIME = Duration.ofSeconds(10);
  private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int LONGEST_PAUSE = 7;

  /**
   * Work in a transaction.
   *
   * @param <X> what it may throw, beside {@link SQLException}
   */
  @FunctionalInterface
  public interface Work<X extends Exception> {
    /**
     * Does the work: reads, decides, writes. It does not commit, roll back or close.
     *
     * @param connection in a transaction, which has just begun
     * @throws SQLException trouble with the database; SQLState 40 (deadlock, serialization failure) and MariaDB's
     *     error 1020 (record has changed since last read) begin anew
     * @throws X whatever the work throws: it is rolled back, and thrown on
     */
    void run(Connection connection) throws SQLException, X;
  }

  /**
   * Work in a transaction, with a result.
   *
   * @param <T> the result
   * @param <X> what it may throw, beside {@link SQLException}
   */
  @FunctionalInterface
  public interface WorkWithResult<T, X extends Exception> {
    /**
     * As {@link Work#run}.
     *
     * @param connection in a transaction, which has just begun
     * @return the result: given to the caller after the commit
     * @throws SQLException as there
     * @throws X as there
     */
    T call(Connection connection) throws SQLException, X;
  }

  private final LockKey name;
  private final DataSource dataSource;
  private final KnownRows rows;
  private final int attempts;
  private final Duration time;

  OptimisticLock(LockKey name, DataSource dataSource, KnownRows rows) {
    this(name, dataSource, rows, ATTEMPTS, TIME);
  }

  private OptimisticLock(
      LockKey name, DataSource dataSource, KnownRows rows, int attempts, Duration time) {
    this.name = name;
    this.dataSource = dataSource;
    this.rows = rows;
    this.attempts = attempts;
    this.time = time;
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
   * Returns the same with other limits: 50 attempts and 10 s, unless they are given.
   *
   * @param mostAttempts how often the work is done at most, 1 or more
   * @param atMost no attempt begins after that; one that runs is not ended
   * @return a copy
   * @throws IllegalArgumentException if a limit is not positive
   */
  public OptimisticLock within(int mostAttempts, Duration atMost) {
    Objects.requireNonNull(atMost, "atMost");
    if (mostAttempts < 1 || atMost.isZero() || atMost.isNegative()) {
      throw new IllegalArgumentException(
          "limits are positive, these are " + mostAttempts + " and " + DurationText.exact(atMost));
    }
    return new OptimisticLock(name, dataSource, rows, mostAttempts, atMost);
  }

  /**
   * Does work in a transaction, and commits it if nobody else has committed under this name since it began; else rolls it
   * back, pauses for a random time (up to 1 ms at first, and up to 128 ms later), and begins anew. Ways to return:
   *
   * <ul>
   *   <li>normally: it was committed, once;
   *   <li>what the work throws: rolled back;
   *   <li>{@link VersionConflictException}: others came first until the limit; rolled back;
   *   <li>{@link SQLException}: the database was not reached, or failed; rolled back, or never to be committed. Deadlocks and
   *       serialization failures (SQLState 40, and 1020 on MariaDB) are conflicts like others;
   *   <li>{@link WriteUnknownException}: the commit was sent and its answer did not come: committed, or not. Look at the
   *       data before doing it again;
   *   <li>{@link InterruptedException}: interrupted on entry or in a pause; rolled back. An attempt that runs is not
   *       interrupted by us; its thread's flag is looked at when it has failed.
   * </ul>
   *
   * <p>Each attempt takes a connection of the data source, and gives it back.
   *
   * @param work the work
   * @param <X> what it may throw
   * @throws X whatever the work throws
   * @throws SQLException whatever the database has to say otherwise
   * @throws VersionConflictException if the limit was reached
   * @throws WriteUnknownException if it is not known whether it was committed
   * @throws ConfigurationException if this is another kind of database
   * @throws InterruptedException if the thread is interrupted while nothing is being done
   */
  public <X extends Exception> void run(Work<X> work) throws X, SQLException, InterruptedException {
    Objects.requireNonNull(work, "work");
    boolean unused = this.<Boolean, X>call(connection -> {
      work.run(connection);
      return true;
    });
  }

  /**
   * As {@link #run}, with a result.
   *
   * @param work the work
   * @param <T> the result
   * @param <X> what it may throw
   * @return what the work has returned in the attempt that was committed
   * @throws X as {@link #run}
   * @throws SQLException as {@link #run}
   * @throws VersionConflictException as {@link #run}
   * @throws WriteUnknownException as {@link #run}
   * @throws ConfigurationException as {@link #run}
   * @throws InterruptedException as {@link #run}
   */
  public <T, X extends Exception> T call(WorkWithResult<T, X> work)
      throws X, SQLException, InterruptedException {
    Objects.requireNonNull(work, "work");
    long from = Ticker.system().nanos();
    for (int attempt = 1; ; attempt++) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      rows.make(name);
      Optional<T> result = attempt(work);
      if (result.isPresent()) {
        return result.get();
      }
      if (attempt >= attempts
          || Ticker.system().nanos() - from >= TimeUnit.NANOSECONDS.convert(time)) {
        throw new VersionConflictException("\"" + name + "\"", "the database", attempt);
      }
      pause(attempt);
    }
  }

  /** Returns the result if it was committed; nothing if somebody else came first. */
  private <T, X extends Exception> Optional<T> attempt(WorkWithResult<T, X> work)
      throws X, SQLException {
    try (DataTransaction transaction = DataTransaction.begin(dataSource)) {
      Connection connection = transaction.connection();
      OptionalLong version = version(connection);
      if (version.isEmpty()) {
        rows.forget(name);
        return Optional.empty();
      }
      T result = Objects.requireNonNull(work.call(connection), "the work's result");
      if (!raise(connection, version.getAsLong())) {
        return Optional.empty();
      }
      transaction.commit();
      return Optional.of(result);
    } catch (SQLException e) {
      if (JdbcErrors.isConflict(e)) {
        return Optional.empty();
      }
      throw e;
    } catch (VersionConflictException e) {
      // a row of the application's own: see VersionColumn
      return Optional.empty();
    }
  }

  private OptionalLong version(Connection connection) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT version FROM holdfast_version WHERE name = ?")) {
      DatabaseKind.of(connection).bindName(query, 1, name.name());
      try (ResultSet found = query.executeQuery()) {
        return found.next() ? OptionalLong.of(found.getLong(1)) : OptionalLong.empty();
      }
    }
  }

  /** Locks the row until the commit: of two that have read the same version, the second waits here, and finds another. */
  private boolean raise(Connection connection, long version) throws SQLException {
    String sql = "UPDATE holdfast_version SET version = version + 1 WHERE name = ? AND version = ?";
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      DatabaseKind.of(connection).bindName(update, 1, name.name());
      update.setLong(2, version);
      return update.executeUpdate() == 1;
    }
  }

  private static void pause(int attempt) throws InterruptedException {
    long most = SHORTEST_PAUSE_NANOS << Math.min(attempt - 1, LONGEST_PAUSE);
    long nanos = ThreadLocalRandom.current().nextLong(most);
    // nobody opens it: an interruptible pause
    boolean unused = new CountDownLatch(1).await(nanos, TimeUnit.NANOSECONDS);
  }
}
