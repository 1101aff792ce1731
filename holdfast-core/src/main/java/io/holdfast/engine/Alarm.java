// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Ticker;

/**
 * Something that waits for one time after another, and may find another one to wait for before the first has come: a
 * wake-up that was set for something that is over is ignored. Guarded by the lock of whoever waits.
 */
abstract class Alarm extends Timed {
  private final Timer timer;
  private final Ticker ticker;

  /** What is waited for; the timer may come sooner, for what was waited for before. */
  private long wakeNanos;

  private boolean onTimer;
  private long armedNanos;

  Alarm(Timer timer, Ticker ticker) {
    this.timer = timer;
    this.ticker = ticker;
  }

  /** Ignores wake-ups for what came before; the timer is set once it is known to be needed. */
  final void expectWakeAt(long nanos) {
    wakeNanos = nanos;
  }

  /** Sets the timer. */
  final void wakeAt(long nanos) {
    wakeNanos = nanos;
    if (onTimer && armedNanos == nanos) {
      return;
    }
    onTimer = true;
    armedNanos = nanos;
    timer.set(this, nanos);
  }

  /** The timer has come: says whether for what is waited for now. If not, it is set again. */
  final boolean isDue() {
    onTimer = false;
    if (ticker.nanos() - wakeNanos >= 0) {
      return true;
    }
    wakeAt(wakeNanos);
    return false;
  }

  /** Waits for nothing any more. */
  final void clearAlarm() {
    timer.clear(this);
    onTimer = false;
  }
}
