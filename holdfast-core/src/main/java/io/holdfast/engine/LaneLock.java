// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;

/**
 * A reentrant lock, like {@link java.util.concurrent.locks.ReentrantLock}, that knows its owner by a number.
 *
 * <p>A {@code ReentrantLock} refers to the thread that owns it. With 100,000 names each renewal writes such references into
 * old objects, and scanning these took the garbage collector a third of the client's CPU. This lock writes no reference
 * unless a thread has to wait. The cost: a thread dump does not say which thread owns the lock.
 */
final class LaneLock extends AbstractQueuedLongSynchronizer {
  private static final long serialVersionUID = 1L;

  private static final long FREE = 0;

  /** The low bits of the state: how often the owner has taken the lock. Above them is the owner's number. */
  private static final int DEPTH_BITS = 8;

  private static final long DEEPEST = (1 << DEPTH_BITS) - 1;

  private static final AtomicLong NUMBERS = new AtomicLong();

  /** A number of our own, never reused: {@link Thread#getId} may be overridden, and return the same for two threads. */
  private static final ThreadLocal<Long> NUMBER = ThreadLocal.withInitial(NUMBERS::incrementAndGet);

  /**
   * Takes the lock. An interrupt does not end the wait, and stays set.
   *
   * @throws IllegalStateException if this thread has taken it 255 times already
   */
  void lock() {
    acquire(1);
  }

  /**
   * Releases the lock once.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock
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
