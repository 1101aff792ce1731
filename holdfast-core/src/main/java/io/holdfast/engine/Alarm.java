// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * Something that waits for one time after another, and may find another one to wait for before the first has come: a
 * wake-up that was set for something that is over is ignored. Guarded by the lock of whoever waits.
 */
abstract class Alarm extends Timed {
  private static final long NOT_ARMED = Long.MIN_VALUE;

  /** What is waited for; the timer may come sooner, for what was waited for before. */
  private long wakeNanos;

  /** What the timer is set for; {@link #NOT_ARMED} otherwise. If a time happens to be that, it is set once too often. */
  private long armedNanos = NOT_ARMED;

  /** Whose timer it is. */
  abstract Engine engine();

  /** Ignores wake-ups for what came before; the timer is set once it is known to be needed. */
  final void expectWakeAt(long nanos) {
    wakeNanos = nanos;
  }

  /** Sets the engine().timer. */
  final void wakeAt(long nanos) {
    wakeNanos = nanos;
    if (armedNanos == nanos && nanos != NOT_ARMED) {
      return;
    }
    armedNanos = nanos;
    engine().timer.set(this, nanos);
  }

  /** The timer has come: says whether for what is waited for now. If not, it is set again. */
  final boolean isDue() {
    armedNanos = NOT_ARMED;
    if (engine().ticker.nanos() - wakeNanos >= 0) {
      return true;
    }
    wakeAt(wakeNanos);
    return false;
  }

  /** Waits for nothing any more. */
  final void clearAlarm() {
    engine().timer.clear(this);
    armedNanos = NOT_ARMED;
  }
}
