// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.HoldfastException;
import io.holdfast.LockAdmin;
import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** On a terminal, shows what the command waits for and for how long, until closed. */
final class WaitingLine {
  private final CountDownLatch closed = new CountDownLatch(1);
  private final LockAdmin admin;
  private final String name;
  private final Messages messages;
  private final Ticker ticker;
  private final StoreWait storeWait;

  private WaitingLine(
      LockAdmin admin, String name, Messages messages, Ticker ticker, StoreWait storeWait) {
    this.admin = admin;
    this.name = name;
    this.messages = messages;
    this.ticker = ticker;
    this.storeWait = storeWait;
  }

  /** Starts to show, once a second; the first time after a moment, since most locks are free. */
  static WaitingLine show(
      LockAdmin admin, String name, Messages messages, Ticker ticker, StoreWait storeWait) {
    WaitingLine line = new WaitingLine(admin, name, messages, ticker, storeWait);
    if (Terminal.is(2)) {
      Thread thread = new Thread(line::untilClosed, "holdfast-waiting");
      thread.setDaemon(true);
      thread.start();
    }
    return line;
  }

  private void untilClosed() {
    long begun = ticker.nanos();
    long pauseMillis = 300;
    try {
      while (!closed.await(pauseMillis, TimeUnit.MILLISECONDS)) {
        pauseMillis = 1000;
        String waited = Durations.format(Duration.ofNanos(ticker.nanos() - begun));
        // looked at before it is said; by then the lock may be ours, and its line the command's
        messages.progress(
            "waiting for \"" + name + "\" (" + waited + "): " + state(),
            () -> closed.getCount() > 0);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String state() {
    try {
      return admin
          .inspect(name)
          .filter(LockInfo::isTaken)
          .map(info -> Describe.holding(info, ticker.wallMillis()))
          .orElseGet(this::stateWhenFree);
    } catch (HoldfastException e) {
      return "the store does not answer";
    } catch (IllegalStateException e) {
      // closed meanwhile
      return "";
    }
  }

  private String stateWhenFree() {
    return storeWait
        .left()
        .map(left -> "the store grants no lock for another " + Durations.format(left))
        .orElse("just got free");
  }

  /** Shows nothing any more. */
  void close() {
    closed.countDown();
    messages.clearProgress();
  }
}
