// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * The lock as a {@link Lock}: a thread owns it, and may enter as often as it likes. Entries are counted in this process. All
 * views of one name in one {@link Holdfast} are one lock.
 *
 * <pre>{@code
 * JavaLock stock = holdfast.lock("stock").asJavaLock();
 * stock.lock();
 * try {
 *   shop.book(order, stock.hold().token());
 * } finally {
 *   stock.unlock();
 * }
 * }</pre>
 *
 * <p>Entering again does no I/O, never shortens the lease and keeps the token; it is refused once the hold is lost. The hold
 * of a thread that has died is not renewed, and so ends with its lease. What one owner's writes mean for the next one's
 * reads is said at {@link DistributedLock}.
 */
public interface JavaLock extends Lock {
  /**
   * Waits until the calling thread owns the lock. An interrupt does not stop the wait, and the interrupt flag stays set.
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
   * As {@link #lock()}, except that an interrupt before or during the wait ends it: the claim is withdrawn, the interrupt flag
   * is cleared and {@link InterruptedException} is thrown.
   *
   * @throws InterruptedException if the thread was interrupted
   * @throws IllegalStateException as {@link #lock()}
   * @throws StoreUnavailableException as {@link #lock()}
   * @throws AcquireUnknownException as {@link #lock()}
   */
  @Override
  void lockInterruptibly() throws InterruptedException;

  /**
   * Makes one attempt, which may take up to {@code requestTimeout}: 2 s by default, never more than a third of the lease. It
   * never waits for a holder, and may overtake waiters, fair ones too. A thread that owns the lock enters again at once.
   *
   * @return true if the calling thread owns the lock now; false only if another holder has it, or this thread by a hold
   *     that it acquired through {@link DistributedLock}
   * @throws IllegalStateException if this thread's hold was lost, or the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   * @throws AcquireUnknownException if the store was asked and stayed silent
   */
  @Override
  boolean tryLock();

  /**
   * Tries for a limited time, and makes one attempt at least, which may take up to {@code requestTimeout} (2 s by default)
   * even if the limit is shorter.
   *
   * @param time the limit; zero or less means one attempt
   * @param unit its unit
   * @return true if the calling thread owns the lock now; false only if another holder, or this thread by a hold that it
   *     acquired through {@link DistributedLock}, had it until the limit
   * @throws InterruptedException if the thread was interrupted, before or during the wait
   * @throws IllegalStateException if this thread's hold was lost, or the client is closed
   * @throws StoreUnavailableException if the limit was reached and the store's last answer was a failure
   * @throws AcquireUnknownException if the limit was reached and the store's last answer never came
   */
  @Override
  boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

  /**
   * Undoes one entry; the last one releases the lock in the store, which takes up to {@code requestTimeout} (2 s by default).
   * If the store does not answer, that is logged, and the release goes on in the background.
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
