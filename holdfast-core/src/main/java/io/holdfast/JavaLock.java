// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * The reentrant view: owned by the thread, counted locally. All views of one name in one {@link Holdfast} are one lock.
 *
 * <p>Entering again costs no I/O, never shortens the lease and keeps the token; it is refused once the hold is lost. A
 * dead thread's hold is not renewed and so ends with its lease. Memory: see {@link DistributedLock}.
 */
public interface JavaLock extends Lock {
  /**
   * Waits until the calling thread owns the lock. An interrupt does not stop the wait; the flag is kept.
   *
   * @throws IllegalStateException if this thread's hold was lost (with the {@link HoldLostException} as cause): unlock
   *     down to zero first; or the client is closed; or a hold acquired through {@link DistributedLock} by this thread
   *     is in the way
   * @throws StoreUnavailableException if the store could not be asked for {@code storeRetryFor}, as in {@link
   *     DistributedLock#acquire()}
   * @throws AcquireUnknownException if the store was asked and stayed silent
   */
  @Override
  void lock();

  /**
   * As {@link #lock()}, but an interrupt on entry or while waiting throws, flag cleared, claim withdrawn.
   *
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException as {@link #lock()}
   * @throws StoreUnavailableException as {@link #lock()}
   * @throws AcquireUnknownException as {@link #lock()}
   */
  @Override
  void lockInterruptibly() throws InterruptedException;

  /**
   * Makes one attempt, overtaking waiters, fair ones too. Never waits for a holder.
   *
   * @return true if the calling thread owns the lock now; false only if somebody else has it, or this thread by a hold
   *     that it acquired through {@link DistributedLock}
   * @throws IllegalStateException if this thread's hold was lost, or the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   * @throws AcquireUnknownException if the store was asked and stayed silent
   */
  @Override
  boolean tryLock();

  /**
   * Waits for the lock within a budget; zero or less means one attempt.
   *
   * @param time the budget
   * @param unit its unit
   * @return true if the calling thread owns the lock now; false only if somebody else, or this thread by a hold that it
   *     acquired through {@link DistributedLock}, had it until the budget was spent
   * @throws InterruptedException if interrupted, on entry or while waiting
   * @throws IllegalStateException if this thread's hold was lost, or the client is closed
   * @throws StoreUnavailableException if the budget ended and the store's last answer was a failure
   * @throws AcquireUnknownException if the budget ended and the store's last answer never came
   */
  @Override
  boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

  /**
   * Undoes one entry; the last one releases the lock in the store (a silent store is logged, the release goes on in the
   * background).
   *
   * @throws IllegalMonitorStateException if the calling thread does not own the lock; or, with the {@link
   *     HoldLostException} as cause, if its hold was lost (the entry is undone all the same)
   */
  @Override
  void unlock();

  /**
   * Not supported: a condition would need a queue in the store.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  Condition newCondition();

  /**
   * Says whether the calling thread owns the lock, by what is known locally.
   *
   * @return false also once the hold is lost
   */
  boolean isHeldByCurrentThread();

  /**
   * Returns how often the calling thread has entered and not left, whether or not the hold was lost since.
   *
   * @return zero if it has not
   */
  int holdCount();

  /**
   * Returns the calling thread's hold, for its token and validity. Do not release it: {@link #unlock()} does.
   *
   * @return the hold
   * @throws IllegalMonitorStateException if the calling thread does not own the lock
   */
  Hold hold();
}
