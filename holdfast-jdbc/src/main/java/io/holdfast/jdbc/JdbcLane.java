// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.DaemonThread;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests, and a few threads that run them, each on a connection of its own, which it borrows with its first request and
 * gives back when it has had none for a while. The thread that was at work last comes first: a caller that asks for one thing
 * after the other has one connection. Threads without one come last: a source that is used up would let them wait, and what
 * they were called for with them.
 *
 * <p>A statement that the database rolled back in favour of another is run again while its request has time. One whose
 * connection broke is not: nobody knows what became of it, and the engine asks again under the same claim.
 *
 * <p>{@code guard} guards all mutable fields of the lane and of its workers but {@code session}, which is its worker's.
 */
final class JdbcLane {
  private static final System.Logger LOG = System.getLogger(JdbcLane.class.getName());
  private static final long IDLE_NANOS = 2_000_000_000L;
  private static final long CLOSE_NANOS = 2_000_000_000L;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000L;
  private static final long WATCH_NANOS = 250_000_000L;
  private static final long LONGEST_LOAN_NANOS = 5_000_000_000L;

  /** Something to do with a session. */
  @FunctionalInterface
  interface Work<T> {
    T in(JdbcSession session) throws SQLException;
  }

  private final String role;
  private final int most;
  private final boolean keepsIdle;
  private final JdbcContext context;
  private final SplittableRandom random;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition ended = guard.newCondition();
  private final Deque<Worker> idle = new ArrayDeque<>();
  private final Deque<Runnable> line = new ArrayDeque<>();
  private final Set<Worker> workers = new HashSet<>();
  private int threads;
  private int loans;
  private boolean watched;
  private boolean closed;

  /**
   * Makes a lane without threads.
   *
   * @param role for the threads' names
   * @param most how many threads and connections there may be
   * @param keepsIdle whether a connection is kept until the end
   */
  JdbcLane(String role, int most, boolean keepsIdle, JdbcContext context) {
    this.role = role;
    this.most = most;
    this.keepsIdle = keepsIdle;
    this.context = context;
    random = context.split();
  }

  /** A thread with its connection. */
  private final class Worker extends DaemonThread {
    final Condition called = guard.newCondition();
    final JdbcSeat seat = new JdbcSeat(context, JdbcLane.this);

    /** Set while a caller has the connection. */
    @Nullable
    Loan loan;

    /** How often a caller had it. */
    int lent;

    Worker() {
      super(null, "holdfast-jdbc-" + role);
    }

    @Override
    public void run() {
      try {
        while (awaitWork() && (seat.session() != null || connects())) {
          Runnable task = next();
          if (task != null) {
            run(task);
          }
        }
        seat.giveBack();
      } finally {
        gone(this);
      }
    }

    /** A thread that ended here would be missed: the only one of a lane most of all. */
    private void run(Runnable task) {
      try {
        task.run();
      } catch (Throwable e) {
        LOG.log(Level.ERROR, "store=" + context.store() + " a task failed", e);
      }
    }

    /** Waits until something stands in line; false when nothing came for long, or the lane is closed. */
    private boolean awaitWork() {
      guard.lock();
      try {
        long left = IDLE_NANOS;
        while (loan != null || (line.isEmpty() && !closed && left > 0)) {
          if (loan == null && !idle.contains(this)) {
            rest(this);
          }
          int before = lent;
          left = called.awaitNanos(left);
          if (keepsIdle || loan != null || lent != before) {
            left = IDLE_NANOS;
          }
        }
        return !line.isEmpty() && !closed;
      } catch (InterruptedException e) {
        // nobody interrupts these threads but close()
        return false;
      } finally {
        idle.remove(this);
        if (line.isEmpty()) {
          // it ends: from here on another one is started instead
          workers.remove(this);
        }
        guard.unlock();
      }
    }

    private @Nullable Runnable next() {
      guard.lock();
      try {
        return line.poll();
      } finally {
        guard.unlock();
      }
    }

    /**
     * Borrows a connection, while its task stays in line for others. If there is none, and others have some, it is left to
     * them: a pool may be smaller than we are ready to use.
     */
    private boolean connects() {
      if (seat.connects() || !areThereOthers(this)) {
        return true;
      }
      // the one that is started next may fail as fast
      pause(LONGEST_PAUSE_NANOS);
      return false;
    }
  }

  /** Whether others have connections; one of them is called then, since this worker was called for their work. */
  private boolean areThereOthers(Worker worker) {
    guard.lock();
    try {
      boolean others =
          workers.stream().anyMatch(each -> each != worker && each.seat.session() != null);
      if (others) {
        workers.remove(worker);
        call();
      }
      return others;
    } finally {
      guard.unlock();
    }
  }

  /** To be called with the guard. */
  private void rest(Worker worker) {
    if (worker.seat.session() != null) {
      idle.addLast(worker);
    } else {
      idle.addFirst(worker);
    }
  }

  /** Calls one that rests; false if none does. To be called with the guard. */
  private boolean call() {
    Worker free = idle.pollLast();
    if (free != null) {
      free.called.signal();
    }
    return free != null;
  }

  private void gone(Worker worker) {
    guard.lock();
    try {
      workers.remove(worker);
      threads--;
      ended.signalAll();
      if (!closed && !line.isEmpty() && !call() && workers.size() < most) {
        // it was called, and ended all the same
        start();
      }
    } finally {
      guard.unlock();
    }
  }

  boolean isClosed() {
    guard.lock();
    try {
      return closed;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Runs a task on one of the threads.
   *
   * @throws RejectedExecutionException after {@link #close()}
   */
  void execute(Runnable task) {
    guard.lock();
    try {
      if (closed) {
        throw new RejectedExecutionException("closed");
      }
      line.add(task);
      if (!call() && workers.size() < most) {
        start();
      }
    } finally {
      guard.unlock();
    }
  }

  /**
   * Lends the connection of the one that was at work last; null if none rests with one. Never one that may join a
   * transaction of the caller's thread; nor for a request that may take long: MariaDB's driver cannot be hung up on while it
   * reads, and a caller that is interrupted would have to wait.
   */
  private @Nullable Worker lend(Moment asked) {
    if (!context.source().isOurs()
        || context.runtime().requestTimeout().toNanos() > LONGEST_LOAN_NANOS) {
      return null;
    }
    guard.lock();
    try {
      Worker worker = idle.peekLast();
      JdbcSession session = worker == null ? null : worker.seat.session();
      if (worker == null || session == null || closed) {
        return null;
      }
      if (!watched) {
        // first of all: nobody is lent anything that is not watched
        watch(loans);
        watched = true;
      }
      idle.removeLast();
      worker.loan = new Loan(Thread.currentThread(), asked, session);
      worker.lent++;
      loans++;
      return worker;
    } finally {
      guard.unlock();
    }
  }

  private void takeBack(Worker worker) {
    guard.lock();
    try {
      Loan loan = worker.loan;
      if (loan != null && loan.isEnded()) {
        worker.seat.forget(loan.session());
      }
      worker.loan = null;
      if (line.isEmpty() && !closed) {
        rest(worker);
      } else {
        worker.called.signal();
      }
    } finally {
      guard.unlock();
    }
  }

  /** Looks after the callers for as long as there are new ones. To be called with the guard. */
  private void watch(int seen) {
    context.runtime().scheduler().schedule(() -> look(seen), WATCH_NANOS);
  }

  private void look(int seen) {
    guard.lock();
    try {
      boolean any = false;
      for (Worker each : workers) {
        Loan loan = each.loan;
        any |= loan != null;
        if (loan != null
            && loan.isToBeEnded(context, WATCH_NANOS)
            && hangUp(loan.session(), () -> {})) {
          loan.end();
        }
      }
      watched = any || loans != seen;
      if (watched) {
        watch(loans);
      }
    } finally {
      guard.unlock();
    }
  }

  /** A driver may want to tell the server, which does not answer: nobody waits for that. */
  private boolean hangUp(JdbcSession session, Runnable then) {
    Runnable task = () -> {
      try {
        session.abort();
      } finally {
        then.run();
      }
    };
    Thread thread = new DaemonThread(task, "holdfast-jdbc-abort");
    try {
      thread.start();
      return true;
    } catch (Error e) {
      LOG.log(Level.ERROR, "store=" + context.store() + " no thread could be made", e);
      return false;
    }
  }

  private void start() {
    Worker worker = new Worker();
    workers.add(worker);
    threads++;
    try {
      worker.start();
    } catch (Error e) {
      // no more threads can be made: who has one does it, or whoever asks later
      workers.remove(worker);
      threads--;
      LOG.log(Level.ERROR, "store=" + context.store() + " no thread could be made", e);
    }
  }

  /** Runs something: on the calling thread if that waits anyway and a connection rests, otherwise on one of the threads. */
  <T> CompletableFuture<T> submitOrRun(Work<T> work) {
    Moment asked = context.now();
    Worker worker;
    try {
      worker = context.runtime().callerWaits().getAsBoolean() ? lend(asked) : null;
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
    if (worker == null) {
      return submit(asked, work);
    }
    try {
      return CompletableFuture.completedFuture(worker.seat.call(asked, work, true));
    } catch (JdbcSeat.Disconnected e) {
      return submit(asked, work);
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      takeBack(worker);
    }
  }

  /** Runs something on one of the threads. */
  <T> CompletableFuture<T> submit(Work<T> work) {
    return submit(context.now(), work);
  }

  /** The same, where the time that it takes to get a connection does not count. */
  <T> CompletableFuture<T> submitFirst(Work<T> work) {
    return supply(() -> call(context.now(), work));
  }

  private <T> CompletableFuture<T> submit(Moment asked, Work<T> work) {
    return supply(() -> call(asked, work));
  }

  private <T> CompletableFuture<T> supply(Supplier<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      execute(() -> {
        T value;
        try {
          value = task.get();
        } catch (Throwable e) {
          // a connection that is not ours may throw what it does not declare
          result.completeExceptionally(e);
          return;
        }
        result.complete(value);
      });
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(JdbcErrors.closed(context.store()));
    }
    return result;
  }

  /** Does what {@link #submit} does, on one of the threads already. */
  <T> T call(Moment asked, Work<T> work) {
    if (isClosed()) {
      // also on the thread that closes, which does what is left
      throw JdbcErrors.closed(context.store());
    }
    return ((Worker) Thread.currentThread()).seat.call(asked, work, false);
  }

  /** Waits for a part of some time, unless the lane is closed meanwhile; keeps an interrupt for later. */
  void pause(long most) {
    guard.lock();
    try {
      long left = most / 2 + random.nextLong(most / 2 + 1);
      while (left > 0 && !closed) {
        left = ended.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      guard.unlock();
    }
  }

  /**
   * Ends the threads: what waits in line fails as not applied, and who waits for the database's answer fails as unknown.
   */
  void close() {
    Deque<Runnable> never;
    Set<Worker> open;
    guard.lock();
    try {
      closed = true;
      ended.signalAll();
      never = new ArrayDeque<>(line);
      line.clear();
      open = new HashSet<>(workers);
      idle.forEach(each -> each.called.signal());
    } finally {
      guard.unlock();
    }
    // they find the lane closed and say so to whoever waits for them
    never.forEach(Runnable::run);
    awaitEnd(CLOSE_NANOS / 8);
    for (Worker each : open) {
      JdbcSession session = each.seat.session();
      if (session == null) {
        // it may wait for a pool
        each.interrupt();
      } else {
        // not one after the other, and not for long
        hangUpLast(session);
      }
    }
    awaitEnd(CLOSE_NANOS);
  }

  /** Hangs up on a connection, which is waited for: its worker may be gone before it is. */
  private void hangUpLast(JdbcSession session) {
    count(1);
    if (!hangUp(session, () -> count(-1))) {
      count(-1);
    }
  }

  private void count(int more) {
    guard.lock();
    try {
      threads += more;
      ended.signalAll();
    } finally {
      guard.unlock();
    }
  }

  private void awaitEnd(long most) {
    long left = most;
    guard.lock();
    try {
      while (threads > 0 && left > 0) {
        left = ended.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      guard.unlock();
    }
  }
}
