// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.HoldfastException;
import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Says what a run waits for, until closed: on a terminal in a line that shows for how long, elsewhere once, after two seconds, so that a
 * log or cron's mail has the reason of a wait.
 */
final class WaitingLine {
  private static final long FIRST_MILLIS = 300;
  private static final long ONCE_MILLIS = 2000;

  private final CountDownLatch closed = new CountDownLatch(1);
  private final LockAdmin admin;
  private final String name;
  private final Messages messages;
  private final Ticker ticker;
  private final StoreWait storeWait;
  private final boolean saysBusy;

  /** Whether the lock was seen taken: only then it can have become free. */
  private boolean wasTaken;

  private WaitingLine(
      LockAdmin admin,
      String name,
      Messages messages,
      Ticker ticker,
      StoreWait storeWait,
      boolean saysBusy) {
    this.admin = admin;
    this.name = name;
    this.messages = messages;
    this.ticker = ticker;
    this.storeWait = storeWait;
    this.saysBusy = saysBusy;
  }

  /**
   * Starts to show: on a terminal once a second, the first time after a moment, since most locks are free.
   *
   * @param saysBusy whether it is said, where there is no terminal, that another holder has the lock; that the store does not answer is said
   *     in any case
   */
  static WaitingLine show(
      LockAdmin admin,
      String name,
      Messages messages,
      Ticker ticker,
      StoreWait storeWait,
      boolean saysBusy) {
    WaitingLine line = new WaitingLine(admin, name, messages, ticker, storeWait, saysBusy);
    Thread thread = new Thread(Terminal.is(2) ? line::untilClosed : line::once, "holdfast-waiting");
    thread.setDaemon(true);
    thread.start();
    return line;
  }

  private void untilClosed() {
    long begun = ticker.nanos();
    long pauseMillis = FIRST_MILLIS;
    try {
      while (!closed.await(pauseMillis, TimeUnit.MILLISECONDS)) {
        pauseMillis = 1000;
        String waited = DurationText.of(Duration.ofNanos(ticker.nanos() - begun));
        // looked at before it is said; by then the lock may be ours, and its line the command's
        messages.progress(
            "waiting for \"" + name + "\" (" + waited + "): "
                + state().map(State::brief).orElse(""),
            () -> closed.getCount() > 0);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void once() {
    try {
      if (!closed.await(ONCE_MILLIS, TimeUnit.MILLISECONDS)) {
        state()
            .filter(state -> saysBusy || state.storeFails)
            .ifPresent(state -> messages.note(
                "waiting for \"" + name + "\": " + state.words, () -> closed.getCount() > 0));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private record State(String words, boolean storeFails) {
    /** For a line on a terminal, which is not to be wrapped. */
    String brief() {
      return storeFails ? "the store does not answer" : words;
    }
  }

  /** What the store says of the lock, or why it does not; empty if the client was closed meanwhile. */
  private Optional<State> state() {
    try {
      Optional<LockInfo> taken = admin.inspect(name).filter(LockInfo::isTaken);
      wasTaken |= taken.isPresent();
      String words = taken
          .map(info -> Describe.holding(info, ticker.wallMillis()))
          .orElseGet(this::stateWhenFree);
      return Optional.of(new State(words, false));
    } catch (HoldfastException e) {
      String why = storeWait.trouble().orElseGet(() -> String.valueOf(e.getMessage()));
      return Optional.of(new State(why, true));
    } catch (IllegalStateException e) {
      return Optional.empty();
    }
  }

  private String stateWhenFree() {
    return storeWait
        .left()
        .map(left -> "the store grants no lock for another " + DurationText.of(left))
        .orElse(wasTaken ? "just got free" : "free, and being acquired");
  }

  /** Shows nothing any more. */
  void close() {
    closed.countDown();
    messages.clearProgress();
  }
}
