// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A named thing that at most one holder has at a time, across threads, processes and machines that share a store.
 *
 * <h2>Guarantees</h2>
 *
 * At any instant of the store's clock at most one unexpired hold exists for a name, as far as {@link
 * Holdfast#guarantees()} says. Every grant carries a greater token than all earlier grants of the name.
 *
 * <h2>Not guaranteed</h2>
 *
 * A lease cannot stop a paused process from writing late; the resource that checks {@link Hold#token()} can. Holds are
 * not reentrant: see {@link #asJavaLock()}.
 *
 * <h2>Threads and memory</h2>
 *
 * Instances are immutable and may be shared. Within one process, what a holder did before it released happens-before
 * what the next holder does. Between processes the lock orders no memory: check the token at the resource.
 *
 * <h2>Time</h2>
 *
 * Waits are measured on the monotonic clock, from the call. {@code waitAtMost} of zero or less means one attempt. A
 * lease is counted from before the request was sent.
 *
 * <h2>Failure</h2>
 *
 * A wait survives outages of the store within its budget; an untimed wait for {@code storeRetryFor} in a row, from
 * the time on at which the store can serve, if it says so. An
 * acquisition that ends without a hold, for whatever reason, leaves none behind: the claim is withdrawn, in the
 * background if the store is silent, until that is confirmed or its lease has ended. If the answer to a request is
 * lost, the request is repeated under the same claim, so a lock that was granted silently is found, not taken twice.
 */
public interface DistributedLock {
  /**
   * Returns the name.
   *
   * @return 1 to 512 bytes of UTF-8
   */
  String name();

  /**
   * Returns the same lock with other options. No I/O.
   *
   * @param options the options of acquisitions through the result
   * @return a lock of this name
   * @throws IllegalArgumentException if the lease is outside what the store can keep
   * @throws ConfigurationException if the store cannot be fair and that was asked for
   */
  @CheckReturnValue
  DistributedLock withOptions(LockOptions options);

  /**
   * Waits until the lock is ours. Returns a valid hold; waits as long as somebody else has the lock. Threads of one
   * process queue in arrival order; a thread that comes just when the lock is released may take it before the queue, but
   * not once the first in the queue has waited for a millisecond. Between processes the order is the store's ({@link
   * LockOptions#fair()}).
   *
   * <p>Interrupt, on entry or while waiting: throws, flag cleared, claim withdrawn; a grant that was delivered before
   * the interrupt is returned, flag kept. Store unreachable: keeps trying for {@code storeRetryFor} (from the time on at which
   * the store can serve, if it says so), then throws.
   * Reply lost: asks again under the same claim.
   *
   * @return the hold, to be released
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if the current hold was acquired by a blocking call of this very thread, is renewed
   *     and was not {@linkplain Hold#detach() detached}, so that the wait could never end; or the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   * @throws AcquireUnknownException if the store was asked and stayed silent
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Hold acquire() throws InterruptedException;

  /**
   * Waits until the lock is ours, within a budget. As {@link #acquire()}, but for the time-out.
   *
   * <p>One attempt is made however small the budget is; if the store does not answer it, that takes {@code
   * requestTimeout}.
   *
   * @param waitAtMost the whole budget, local queue and store together; zero or less means one attempt
   * @return the hold, to be released
   * @throws AcquireTimeoutException if somebody else had the lock until the budget was spent; names the holder
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the budget ended and the store's last answer was a failure
   * @throws AcquireUnknownException if the budget ended and the store's last answer never came
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Hold acquire(Duration waitAtMost) throws InterruptedException;

  /**
   * Makes one attempt. Never waits for a holder and never queues; does not stop at an interrupt (the flag stays).
   * Always asks the store, except while this process has the lock. May overtake waiters, fair ones too, as {@link
   * java.util.concurrent.locks.ReentrantLock#tryLock()} does. Takes at most {@code requestTimeout}.
   *
   * @return the hold, to be released; empty only if somebody else has the lock
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   * @throws AcquireUnknownException if the store was asked and stayed silent
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Optional<Hold> tryAcquire();

  /**
   * Waits for the lock within a budget. As {@link #acquire(Duration)}, with a time-out as an empty result.
   *
   * @param waitAtMost the whole budget; zero or less means {@link #tryAcquire()}
   * @return the hold, to be released; empty only if somebody else had the lock until the budget was spent
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the budget ended and the store's last answer was a failure
   * @throws AcquireUnknownException if the budget ended and the store's last answer never came
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Optional<Hold> tryAcquire(Duration waitAtMost) throws InterruptedException;

  /**
   * As {@link #acquire()}, without blocking a thread. The hold belongs to no thread. Any completion of the future that
   * is not ours ({@code cancel}, {@code orTimeout}, {@code complete}) withdraws the claim, and a grant that comes later
   * is given back; completing a future that was derived from it does not reach it. Dependents run on the callback
   * executor, never on an I/O or renewal thread.
   *
   * @return completes with the hold, or with one of the exceptions that {@code acquire()} throws
   */
  @CheckReturnValue
  CompletableFuture<Hold> acquireAsync();

  /**
   * As {@link #acquire(Duration)}, without blocking a thread; see {@link #acquireAsync()}.
   *
   * @param waitAtMost the whole budget; zero or less means one attempt
   * @return completes with the hold, or with one of the exceptions that {@code acquire(Duration)} throws
   */
  @CheckReturnValue
  CompletableFuture<Hold> acquireAsync(Duration waitAtMost);

  /**
   * As {@link #tryAcquire()}, without blocking a thread; see {@link #acquireAsync()}.
   *
   * @return completes with the hold, or empty only if somebody else has the lock
   */
  @CheckReturnValue
  CompletableFuture<Optional<Hold>> tryAcquireAsync();

  /**
   * As {@link #tryAcquire(Duration)}, without blocking a thread; see {@link #acquireAsync()}.
   *
   * @param waitAtMost the whole budget; zero or less means one attempt
   * @return completes with the hold, or empty only if somebody else had the lock until the budget was spent
   */
  @CheckReturnValue
  CompletableFuture<Optional<Hold>> tryAcquireAsync(Duration waitAtMost);

  /**
   * Runs work if the lock is free now; see {@link #tryAcquire()} and {@link #run}.
   *
   * @param work gets the hold
   * @param <X> what the work throws
   * @return true if the work ran; false only if somebody else has the lock
   * @throws X what the work throws; the lock is then released at once, {@code holdAtLeast} or not
   * @throws HoldLostException if the work returned but the hold had been lost by then
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the store could not be asked; the work has not run then
   * @throws AcquireUnknownException if the store was asked and stayed silent; the work has not run then
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  <X extends Exception> boolean tryRun(Work<X> work) throws X;

  /**
   * Waits for the lock, runs work, releases. The release honours {@link LockOptions#holdAtLeast()} if the work
   * returned; if it threw, the lock is free at once. A release that the store does not answer is logged and goes on in
   * the background.
   *
   * @param work gets the hold
   * @param <X> what the work throws
   * @throws X what the work throws
   * @throws InterruptedException if interrupted while waiting for the lock
   * @throws HoldLostException if the work returned but the hold had been lost by then
   * @throws IllegalStateException if this very thread has the lock, as for {@link #acquire()}, or the client is closed
   * @throws StoreUnavailableException if the store could not be asked; the work has not run then
   * @throws AcquireUnknownException if the store was asked and stayed silent; the work has not run then
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  <X extends Exception> void run(Work<X> work) throws X, InterruptedException;

  /**
   * As {@link #run}, with a result.
   *
   * @param work gets the hold
   * @param <T> the result
   * @param <X> what the work throws
   * @return what the work returns
   * @throws X what the work throws
   * @throws InterruptedException if interrupted while waiting for the lock
   * @throws HoldLostException if the work returned but the hold had been lost by then
   * @throws IllegalStateException if this very thread has the lock, as for {@link #acquire()}, or the client is closed
   * @throws StoreUnavailableException if the store could not be asked; the work has not run then
   * @throws AcquireUnknownException if the store was asked and stayed silent; the work has not run then
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  <T extends @Nullable Object, X extends Exception> T call(WorkWithResult<T, X> work)
      throws X, InterruptedException;

  /**
   * Returns the reentrant, thread-owned view. All views of one name in one {@link Holdfast} are one lock.
   *
   * @return the view; acquisitions through it use this lock's options
   */
  JavaLock asJavaLock();
}
