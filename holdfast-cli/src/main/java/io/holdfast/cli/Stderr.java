// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Ticker;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What we say, on its way to stderr: lines, log records, and the line that shows progress; all in one order, written by
 * one daemon thread, which ends when there is nothing left.
 *
 * <p>Usually whoever says something waits until it is written, as with any stream. While a command runs nobody may: a
 * stopped terminal or a full pipe takes nothing for as long as it likes, and whoever waits for it cannot end the command
 * in time. From {@link #hurry} to {@link #settle} texts are therefore kept, the newest {@value #MOST}; how many older
 * ones were left out is said in their place.
 */
final class Stderr {
  /** How many texts are kept while nobody waits. Without -v there are three at most. */
  static final int MOST = 1000;

  private static final String CLEAR_LINE = "\r\u001b[K";
  private static final Stderr OURS = new Stderr(() -> System.err, Ticker.system());

  private final Supplier<PrintStream> stream;
  private final Ticker ticker;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Queue<String> texts = new ArrayDeque<>();

  /** How many texts have come, and how many of them are written or left out. */
  private long come;

  private long done;

  private long leftOut;
  private boolean writing;
  private boolean hurried;
  private boolean givenUp;
  private boolean progressShown;

  /** Writes to a stream, which is asked for each time. */
  Stderr(Supplier<PrintStream> stream, Ticker ticker) {
    this.stream = stream;
    this.ticker = ticker;
  }

  /** This process's. */
  static Stderr ours() {
    return OURS;
  }

  /** Writes a line; it may have several. */
  void line(String line) {
    line(line, () -> true);
  }

  /** Writes a line, if it is still wanted at its turn. */
  void line(String line, BooleanSupplier wanted) {
    say(line + System.lineSeparator(), false, wanted);
  }

  /**
   * Shows a line that the next text replaces, if it is still wanted at its turn: so that none comes after {@link
   * #clearProgress}, called by whoever does not want it any more. For terminals.
   */
  void progress(String line, BooleanSupplier wanted) {
    say(line, true, wanted);
  }

  /** Takes the progress line away. */
  void clearProgress() {
    say("", false, () -> true);
  }

  /** From now on nobody waits, not even who does already. */
  void hurry() {
    lock.lock();
    try {
      // here and not with the first line: what cannot be started now is not needed later
      startWriting();
      hurried = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until everything is written, at most so long; whoever says something after that waits for it again. If it took
   * longer, the rest is dropped, and so is whatever comes later. An interrupt does not end the wait, and is kept.
   */
  void settle(Duration longest) {
    boolean interrupted = false;
    lock.lock();
    try {
      long end = ticker.nanos() + longest.toNanos();
      long left = longest.toNanos();
      while (done < come && left > 0 && !givenUp) {
        try {
          left = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
          left = end - ticker.nanos();
        }
      }
      givenUp |= done < come;
      hurried = false;
      changed.signalAll();
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void say(String text, boolean progress, BooleanSupplier wanted) {
    lock.lock();
    try {
      if (givenUp || (text.isEmpty() && !progressShown) || !wanted.getAsBoolean()) {
        return;
      }
      startWriting();
      texts.add(progress || progressShown ? CLEAR_LINE + text : text);
      progressShown = progress;
      long mine = ++come;
      if (hurried && texts.size() > MOST) {
        texts.remove();
        leftOut++;
        done++;
      }
      changed.signalAll();
      while (done < mine && !hurried && !givenUp) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void startWriting() {
    if (!writing) {
      Thread writer = new Thread(this::write, "holdfast-stderr");
      writer.setDaemon(true);
      writer.start();
      writing = true;
    }
  }

  private void write() {
    lock.lock();
    try {
      while (!givenUp && (hurried || !texts.isEmpty())) {
        if (texts.isEmpty()) {
          changed.awaitUninterruptibly();
        } else {
          writeNext();
        }
      }
    } finally {
      writing = false;
      lock.unlock();
    }
  }

  private void writeNext() {
    boolean isGap = leftOut > 0;
    String text = isGap
        ? "holdfast: stderr took nothing for a while: " + leftOut + " lines are left out here"
            + System.lineSeparator()
        : texts.remove();
    leftOut = 0;
    lock.unlock();
    try {
      PrintStream to = stream.get();
      to.print(text);
      to.flush();
    } catch (RuntimeException | Error e) {
      // There is nobody to tell; a stream that is closed or full says nothing either.
      return;
    } finally {
      lock.lock();
      if (!isGap) {
        done++;
      }
      changed.signalAll();
    }
  }
}
