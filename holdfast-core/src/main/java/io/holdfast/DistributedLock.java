// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A name that at most one holder holds at a time, across threads, processes and machines that share a store.
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire()) { // waits for as long as another holder has it
 *   orders.save(order, hold.token());
 * }
 * boolean ran = lock.tryRun(hold -> orders.save(order, hold.token())); // false if it is busy now
 * Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(5)); // empty if it is still busy then
 * soon.ifPresent(Hold::close); // a hold that is not closed keeps the lock
 * }</pre>
 *
 * <h2>Guarantees</h2>
 *
 * At any instant of the store's clock at most one unexpired hold exists for a name, as far as {@link
 * Holdfast#guarantees()} says. Every grant carries a greater token than all earlier grants of the name.
 *
 * <h2>Not guaranteed</h2>
 *
 * A lease cannot stop a paused process from writing late; the resource that checks {@link Hold#token()} can. A thread
 * that holds the lock cannot acquire it once more, except through {@link #asJavaLock()}.
 *
 * <h2>Threads and memory</h2>
 *
 * Instances are immutable and may be shared. Within one process, what a holder did before it released happens-before
 * what the next holder does. Between processes the lock orders no memory: data that was read before the lock was acquired
 * may be out of date, so read it once the lock is held.
 *
 * <h2>Time</h2>
 *
 * Waits are measured on the monotonic clock, from the call. A {@code waitAtMost} of zero or less means one attempt. A
 * lease is counted from before its request was sent.
 *
 * <h2>Failure</h2>
 *
 * A wait with a limit goes on through outages of the store until its limit. A wait without a limit ends when every request
 * has failed for {@link Holdfast.Builder#storeRetryFor} (30 s by default); if the store says when it can serve again, that
 * time counts from then. An acquisition that ends without a hold, for whatever reason, leaves none behind: the client
 * withdraws its claim, in the background if the store does not answer, until the store has confirmed that or the lease has
 * ended. If the answer to a request is lost, the client repeats the request under the same claim: it then finds a lock that
 * the store has granted already, and does not take it twice.
 */
public interface DistributedLock {
  /**
   * Returns the name of the lock.
   *
   * @return the name, as it was given to {@link Holdfast#lock(String)}
   */
  String name();

  /**
   * Returns the same lock with other options. This does no I/O.
   *
   * @param options the options of acquisitions through the result
   * @return a lock of this name
   * @throws IllegalArgumentException if the lease is outside what the store can keep
   * @throws ConfigurationException if the store cannot be fair and that was asked for
   */
  @CheckReturnValue
  DistributedLock withOptions(LockOptions options);

  /**
   * Waits until the caller has the lock, for as long as another holder has it, and returns a valid hold. Threads of one
   * process queue in arrival order; a thread that comes just when the lock is released may take it before the queue, but
   * not once the first in the queue has waited for a millisecond. Between processes the order is the store's ({@link
   * LockOptions#fair()}).
   *
   * <p>If the thread is interrupted before or during the wait, the claim is withdrawn, the interrupt flag is cleared and
   * {@link InterruptedException} is thrown. If the lock was granted before the interrupt came, the hold is returned and the
   * flag stays set. If the store fails, the call tries again for {@link Holdfast.Builder#storeRetryFor} (30 s by default;
   * from the time at which the store can serve again, if it says so) and then throws.
   *
   * @return the hold, to be released
   * @throws InterruptedException if the thread was interrupted
   * @throws IllegalStateException if the current hold was acquired by a blocking call of this very thread, is renewed
   *     and was not {@linkplain Hold#detach() detached}, so that the wait could never end; or the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   * @throws AcquireUnknownException if the store was asked and stayed silent
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Hold acquire() throws InterruptedException;

  /**
   * Waits until the caller has the lock, for a limited time; otherwise as {@link #acquire()}.
   *
   * <p>One attempt is made however short the limit is. If the store does not answer it, the call takes {@code
   * requestTimeout} (2 s by default) even if the limit is shorter.
   *
   * @param waitAtMost the limit for all of the wait, in the local queue and at the store; zero or less means one attempt
   * @return the hold, to be released
   * @throws AcquireTimeoutException if another holder had the lock until the limit; it names the holder
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the limit was reached and the store's last answer was a failure
   * @throws AcquireUnknownException if the limit was reached and the store's last answer never came
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Hold acquire(Duration waitAtMost) throws InterruptedException;

  /**
   * Makes one attempt, which may take up to {@code requestTimeout}: 2 s by default, never more than a third of the lease. It
   * asks the store, unless this process itself has the lock. It never waits for a holder and never queues. It may overtake
   * waiters, fair ones too, as {@link java.util.concurrent.locks.ReentrantLock#tryLock()} does. An interrupt does not stop it,
   * and the thread's interrupt flag stays set.
   *
   * @return the hold, to be released; empty only if another holder has the lock
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the store could not be asked
   * @throws AcquireUnknownException if the store was asked and stayed silent
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Optional<Hold> tryAcquire();

  /**
   * Tries for a limited time, and makes one attempt at least, which may take up to {@code requestTimeout} (2 s by default)
   * even if the limit is shorter. As {@link #acquire(Duration)}, except that the result is empty if the lock is still busy at
   * the limit.
   *
   * @param waitAtMost the limit for all of the wait; zero or less means one attempt
   * @return the hold, to be released; empty only if another holder had the lock until the limit
   * @throws InterruptedException if interrupted
   * @throws IllegalStateException if the client is closed
   * @throws StoreUnavailableException if the limit was reached and the store's last answer was a failure
   * @throws AcquireUnknownException if the limit was reached and the store's last answer never came
   * @throws ConfigurationException if the store turns out to be unusable as configured
   */
  @CheckReturnValue
  Optional<Hold> tryAcquire(Duration waitAtMost) throws InterruptedException;

  /**
   * As {@link #acquire()}, without blocking a thread. The hold belongs to no thread. If the caller completes the future
   * ({@code cancel}, {@code orTimeout}, {@code complete}), the claim is withdrawn, and a lock that is granted after that is
   * released. Completing a future that was derived from this one does not have that effect. Dependents run on the callback
   * executor, never on an I/O or renewal thread.
   *
   * @return completes with the hold, or with one of the exceptions that {@code acquire()} throws
   */
  @CheckReturnValue
  CompletableFuture<Hold> acquireAsync();

  /**
   * As {@link #acquire(Duration)}, without blocking a thread; see {@link #acquireAsync()}.
   *
   * @param waitAtMost the limit for all of the wait; zero or less means one attempt
   * @return completes with the hold, or with one of the exceptions that {@code acquire(Duration)} throws
   */
  @CheckReturnValue
  CompletableFuture<Hold> acquireAsync(Duration waitAtMost);

  /**
   * Makes one attempt, whose answer may take up to {@code requestTimeout} (2 s by default). As {@link #tryAcquire()}, without
   * blocking a thread; see {@link #acquireAsync()}.
   *
   * @return completes with the hold, or empty only if another holder has the lock
   */
  @CheckReturnValue
  CompletableFuture<Optional<Hold>> tryAcquireAsync();

  /**
   * Tries for a limited time, and makes one attempt at least, whose answer may take up to {@code requestTimeout} (2 s by
   * default) even if the limit is shorter. As {@link #tryAcquire(Duration)}, without blocking a thread; see {@link
   * #acquireAsync()}.
   *
   * @param waitAtMost the limit for all of the wait; zero or less means one attempt
   * @return completes with the hold, or empty only if another holder had the lock until the limit
   */
  @CheckReturnValue
  CompletableFuture<Optional<Hold>> tryAcquireAsync(Duration waitAtMost);

  /**
   * Makes one attempt, which may take up to {@code requestTimeout} (2 s by default), and runs work if the lock is free; see
   * {@link #tryAcquire()} and {@link #run}.
   *
   * @param work gets the hold
   * @param <X> what the work throws
   * @return true if the work ran; false only if another holder has the lock
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
   * Waits for the lock, runs work and releases the lock. If the work returns, the lock stays taken until its {@link
   * LockOptions#holdAtLeast()} is over; if the work throws, the lock is free at once. If the store does not answer the
   * release, that is logged, and the release goes on in the background.
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
