// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Where signals to us go: while we wait for the lock, the first one interrupts the wait; while the command runs, each
 * becomes an event.
 */
final class Interruptions {
  private static final Duration FRONT_LOOK = Duration.ofMillis(250);

  private final Thread waiting = Thread.currentThread();
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable BlockingQueue<Event> events;
  private @Nullable Sig first;

  /** Starts to handle what asks programs to end; call it on the thread that will wait. */
  void listen() {
    for (Sig signal : new Sig[] {Sig.INT, Sig.TERM, Sig.HUP}) {
      Signals.handle(signal, this::came);
    }
  }

  /**
   * Passes all signals on to the watch from now on, those that stop and continue too.
   *
   * @return false if we were told to end before: then nothing changes
   */
  boolean passTo(BlockingQueue<Event> queue) {
    Signals.handle(Sig.TSTP, this::came);
    Signals.handle(Sig.CONT, this::came);
    lock.lock();
    try {
      if (first != null) {
        return false;
      }
      events = queue;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the signal that told us to end, the first one. */
  Optional<Sig> first() {
    lock.lock();
    try {
      return Optional.ofNullable(first);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Watches the shell that stands in front of us on a terminal, see the launcher. Whoever kills it means us.
   *
   * @param front its process id
   */
  void watchFront(long front) {
    Thread watcher = new Thread(() -> untilGone(front), "holdfast-front");
    watcher.setDaemon(true);
    watcher.start();
  }

  /**
   * Ends this process by a signal that told it to end, so that a script around us sees that and ends too, as it does for
   * any command that Ctrl-C has ended. Returns if that is not possible.
   */
  static void dieOf(Sig signal) {
    try {
      Signals.restore(signal);
      new ProcessBuilder(
              "kill", "-s", signal.name(), Long.toString(ProcessHandle.current().pid()))
          .inheritIO()
          .start()
          .waitFor();
      // The signal was sent; it is delivered to some thread of ours in no time.
      boolean never = new CountDownLatch(1).await(1, TimeUnit.SECONDS);
      assert !never;
    } catch (IOException e) {
      System.getLogger("io.holdfast.cli")
          .log(System.Logger.Level.DEBUG, "cannot die of SIG" + signal, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void untilGone(long front) {
    CountDownLatch never = new CountDownLatch(1);
    ProcessHandle self = ProcessHandle.current();
    try {
      while (self.parent().map(ProcessHandle::pid).filter(pid -> pid == front).isPresent()) {
        if (never.await(FRONT_LOOK.toNanos(), TimeUnit.NANOSECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    came(Sig.TERM);
  }

  private void came(Sig signal) {
    lock.lock();
    try {
      boolean begins = first == null && signal.ends();
      if (begins) {
        first = signal;
      }
      if (events != null) {
        events.add(new Event.Signalled(signal));
      } else if (begins) {
        waiting.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }
}
