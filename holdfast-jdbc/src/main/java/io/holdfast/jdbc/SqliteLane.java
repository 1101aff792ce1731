// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection of its own, and a thread for what may take longer. The connection is opened when it is first needed, and
 * again when the file is no longer the one that it was, or when reading or writing failed.
 *
 * <p>{@code turn} guards the session: whoever has it may use the connection.
 */
final class SqliteLane {
  private static final System.Logger LOG = System.getLogger(SqliteLane.class.getName());

  /** How long a deleted or replaced file can go unnoticed. A look costs one system call. */
  private static final long LOOK_EVERY_NANOS = 1_000_000_000L;

  private static final long CLOSE_SECONDS = 2;

  /** Something to do with a session. */
  @FunctionalInterface
  interface Work<T> {
    T in(SqliteSession session) throws SQLException;
  }

  final ReentrantLock turn = new ReentrantLock();
  private final SqliteContext context;
  private final SqliteDatabase database;
  private final SqliteBackoff backoff;
  private final ThreadPoolExecutor thread;
  private volatile boolean closed;
  private @Nullable SqliteSession session;
  private @Nullable Object latestIdentity;
  private long lookedNanos;

  SqliteLane(String role, SqliteContext context, SqliteDatabase database) {
    this(context, database, SqliteContext.thread(role));
  }

  SqliteLane(SqliteContext context, SqliteDatabase database, ThreadPoolExecutor thread) {
    this.context = context;
    this.database = database;
    backoff = new SqliteBackoff(context.split());
    this.thread = thread;
  }

  boolean isClosed() {
    return closed;
  }

  /** Runs a task on the lane's thread. */
  void execute(Runnable task) {
    thread.execute(task);
  }

  /** The session, if it is open and still good; to be called with the turn. */
  @Nullable
  SqliteSession ready(long nowNanos) {
    SqliteSession current = session;
    if (current == null || closed) {
      return null;
    }
    if (nowNanos - lookedNanos >= LOOK_EVERY_NANOS) {
      lookedNanos = nowNanos;
      return lookForFile();
    }
    return current;
  }

  /** Looks at once whether the file is still the same; to be called with the turn. */
  @Nullable
  SqliteSession lookForFile() {
    SqliteSession current = session;
    if (current != null && SqliteFile.isReplaced(context.options().path(), current.identity)) {
      LOG.log(
          Level.WARNING,
          "store={0} the file was deleted or replaced while in use; what it held is no longer valid",
          context.store());
      drop();
      return null;
    }
    return current;
  }

  /** The session, opened if need be; to be called with the turn, on the lane's thread. */
  SqliteSession open(long nowNanos) throws SQLException {
    SqliteSession current = ready(nowNanos);
    if (current != null) {
      return current;
    }
    if (closed) {
      throw SqliteErrors.closed(context.store());
    }
    SqliteSession opened = SqliteSession.open(database);
    session = opened;
    lookedNanos = nowNanos;
    boolean another = latestIdentity != null && !latestIdentity.equals(opened.identity);
    latestIdentity = opened.identity;
    if (another) {
      context.events().lookAgainAll();
    }
    return opened;
  }

  /** Lets go of the connection; the next one to need it opens it again. To be called with the turn. */
  void drop() {
    SqliteSession current = session;
    session = null;
    if (current != null) {
      try {
        current.close();
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "store=" + context.store() + " closing failed", e);
      }
    }
  }

  /**
   * What a failure other than busy means. The connection is let go of: the driver closes a statement that fails, so that
   * it could not be run again. With the turn.
   */
  RuntimeException failure(Exception e) {
    if (e instanceof SQLException sql) {
      drop();
      return SqliteErrors.map(context.store(), sql);
    }
    return e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
  }

  /** Runs something on the lane's thread; while the file is busy, again and again for the time of a request. */
  <T> CompletableFuture<T> submit(Work<T> work) {
    Moment asked = context.now();
    return run(() -> call(asked, work));
  }

  /** Runs something on the lane's thread. */
  <T> CompletableFuture<T> run(Supplier<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      thread.execute(() -> complete(result, task));
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(SqliteErrors.closed(context.store()));
    }
    return result;
  }

  private static <T> void complete(CompletableFuture<T> result, Supplier<T> task) {
    T value;
    try {
      value = task.get();
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
      return;
    }
    result.complete(value);
  }

  /** Does what {@link #submit} does, on the lane's thread already. */
  <T> T call(Moment asked, Work<T> work) {
    backoff.reset();
    while (true) {
      SQLException busy;
      turn.lock();
      try {
        return work.in(open(context.now().nanos()));
      } catch (SQLException e) {
        if (!SqliteErrors.isBusy(e)) {
          throw failure(e);
        }
        busy = e;
      } finally {
        turn.unlock();
      }
      if (closed) {
        throw SqliteErrors.closed(context.store());
      }
      if (isOverdue(asked)) {
        throw SqliteErrors.busyTooLong(context.store(), busy);
      }
      backoff.pause();
    }
  }

  private boolean isOverdue(Moment asked) {
    return context.runtime().ticker().elapsedNanos(asked)
        > context.runtime().requestTimeout().toNanos();
  }

  /** Stops the thread, after what it is doing just now, and closes the connection. */
  void close() {
    closed = true;
    for (Runnable never : thread.shutdownNow()) {
      // It finds the lane closed and says so to whoever waits for it.
      never.run();
    }
    turn.lock();
    try {
      drop();
    } finally {
      turn.unlock();
    }
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.log(Level.WARNING, "store={0} a request did not end in time at close", context.store());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
