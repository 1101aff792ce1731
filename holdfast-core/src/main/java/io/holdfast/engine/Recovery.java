// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.concurrent.locks.ReentrantLock;

/**
 * What is done when the store says that the connection works again: holds are renewed, waiting claims ask again, and forgotten
 * claims are looked for. That is done at once, but no more often than once in a request's time: where one of several servers
 * refuses what it is asked, the connection is disturbed and works again at each round trip.
 */
final class Recovery extends Timed {
  private final Engine engine;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** Whether it is to be done when the time since the last one is over. */
  private boolean isSet;

  private boolean wasDone;
  private long doneNanos;

  Recovery(Engine engine) {
    this.engine = engine;
  }

  /** The connection works again. */
  void restored() {
    if (isNow()) {
      recover();
    }
  }

  private boolean isNow() {
    lock.lock();
    try {
      long now = engine.ticker.nanos();
      long next = doneNanos + engine.requestTimeoutNanos();
      if (wasDone && now - next < 0) {
        if (!isSet) {
          isSet = true;
          engine.timer.set(this, next);
        }
        return false;
      }
      done(now);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void done(long now) {
    wasDone = true;
    doneNanos = now;
    if (isSet) {
      isSet = false;
      engine.timer.clear(this);
    }
  }

  @Override
  void due() {
    boolean wanted;
    lock.lock();
    try {
      wanted = isSet;
      if (wanted) {
        done(engine.ticker.nanos());
      }
    } finally {
      lock.unlock();
    }
    if (wanted) {
      recover();
    }
  }

  private void recover() {
    // first, so that its time has nearly come when this is due again, however many claims there are
    engine.reconciler.soon();
    engine.registry.all().forEach(claimant -> claimant.connection(true));
  }
}
