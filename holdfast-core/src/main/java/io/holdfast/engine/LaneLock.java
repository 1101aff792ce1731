// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;

/**
 * A lock that its owner can take again, like {@link java.util.concurrent.locks.ReentrantLock}, but whose owner is a number.
 *
 * <p>A {@code ReentrantLock} refers to the thread that owns it. With a hundred thousand names that is a hundred thousand old
 * objects into which each renewal writes references, and a third of what the client spent on them was the collector looking
 * them through. Here a step writes no reference unless a thread has to wait. The price: a thread dump does not say which
 * thread owns the lock.
 */
final class LaneLock extends AbstractQueuedLongSynchronizer {
  private static final long serialVersionUID = 1L;

  private static final long FREE = 0;

  /** The low bits of the state: how often the owner has taken the lock. Above them is the owner's number. */
  private static final int DEPTH_BITS = 8;

  private static final long DEEPEST = (1 << DEPTH_BITS) - 1;

  private static final AtomicLong NUMBERS = new AtomicLong();

  /** Ours, and never used again: what {@link Thread#getId} returns may be overridden, and the same for two threads. */
  private static final ThreadLocal<Long> NUMBER = ThreadLocal.withInitial(NUMBERS::incrementAndGet);

  /** Takes the lock; waits for it, through interrupts. */
  void lock() {
    acquire(1);
  }

  /**
   * Gives back what was taken once.
   *
   * @throws IllegalMonitorStateException if another thread has the lock, or none
   */
  void unlock() {
    release(1);
  }

  @Override
  protected boolean tryAcquire(long once) {
    long mine = NUMBER.get();
    long state = getState();
    if (state == FREE) {
      return compareAndSetState(FREE, (mine << DEPTH_BITS) + once);
    }
    if (state >>> DEPTH_BITS != mine) {
      return false;
    }
    if ((state & DEEPEST) == DEEPEST) {
      throw new IllegalStateException("taken " + DEEPEST + " times by one thread");
    }
    setState(state + once);
    return true;
  }

  @Override
  protected boolean tryRelease(long once) {
    long state = getState();
    if (state >>> DEPTH_BITS != NUMBER.get()) {
      throw new IllegalMonitorStateException();
    }
    long left = state - once;
    boolean isFree = (left & DEEPEST) == 0;
    setState(isFree ? FREE : left);
    return isFree;
  }
}
