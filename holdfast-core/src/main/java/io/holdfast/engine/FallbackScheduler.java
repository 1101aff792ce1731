// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Scheduler;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The user's scheduler, and what becomes of a task that it refuses: that one runs on a timer thread of ours, made then.
 * A chain of wake-ups that breaks once would leave every lease without renewal, and every loss untold.
 */
final class FallbackScheduler implements Scheduler {
  private final Scheduler given;
  private final String clientName;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable SystemScheduler own;
  private long refused;
  private boolean closed;

  FallbackScheduler(Scheduler given, String clientName) {
    this.given = given;
    this.clientName = clientName;
  }

  @Override
  public Scheduled schedule(Runnable task, long delayNanos) {
    Scheduled scheduled;
    try {
      scheduled = Objects.requireNonNull(given.schedule(task, delayNanos), "scheduled");
    } catch (Throwable e) {
      SystemScheduler thread = refused(e);
      return thread == null ? () -> {} : thread.schedule(task, delayNanos);
    }
    return () -> Guard.run(scheduled::cancel);
  }

  private @Nullable SystemScheduler refused(Throwable why) {
    long times;
    SystemScheduler thread;
    lock.lock();
    try {
      if (closed) {
        return null;
      }
      times = ++refused;
      thread = own;
      if (thread == null) {
        thread = new SystemScheduler(clientName);
        own = thread;
      }
    } finally {
      lock.unlock();
    }
    Log.thrown(
        times == 1 ? Level.WARNING : Level.DEBUG,
        "the scheduler of client " + clientName + " refused a task, for the " + times
            + ". time; it runs on a thread of the client's own",
        why);
    return thread;
  }

  /** Ends the thread of our own, if there is one; the user's scheduler is not touched. */
  void close() {
    lock.lock();
    try {
      closed = true;
      if (own != null) {
        own.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
