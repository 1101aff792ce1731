// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One holder's ownership of a lock. It belongs to the code that has this handle, not to a thread. Thread-safe.
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire()) {
 *   for (Order each : orders.open()) {
 *     hold.ensureValid(); // throws HoldLostException once the hold is lost
 *     orders.save(each, hold.token()); // and a database that compares tokens refuses a late write
 *   }
 * }
 * }</pre>
 *
 * <p>{@code toString()} says what a log needs: {@code hold on "order:42", token 1056, HELD, 29.6 s left}.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #isValid()} turns false before the store's lease can end: after {@code L - (1 % of L + 10 ms + the store's
 * granularity)}, counted from the instant before the request was sent, on the monotonic or the wall clock, whichever has gone
 * further. The token is greater than those of all earlier grants.
 *
 * <h2>Not guaranteed</h2>
 *
 * A hold that reads as valid may be over in the store if the store's clock has stepped forward, if the store has failed over
 * or lost data, if an operator has force-released the lock, or if the machine was frozen and no local clock shows it. A check
 * and the write that follows it are two steps: only a resource that checks the token closes the gap.
 *
 * <h2>Failure</h2>
 *
 * If a hold is garbage-collected before it was released, the client releases it and logs a warning.
 */
public interface Hold extends AutoCloseable {
  /**
   * Returns the name of the lock.
   *
   * @return the name
   */
  String lockName();

  /**
   * Returns the fencing token: a positive 63-bit integer, greater than that of every earlier grant of this name in this
   * store. Compare tokens only within one name and one store. In JSON, write a token as a string: many
   * readers take numbers for doubles, which lose its last digits. It can be read after loss and release, too.
   *
   * @return the token
   */
  long token();

  /**
   * Returns the state, by the local clocks and without I/O. A hold whose time is up reads {@link HoldState#LOST} at once.
   *
   * @return the state
   */
  HoldState state();

  /**
   * Says whether the caller has the lock at this instant, by the local clocks and without I/O.
   *
   * @return false once {@link #remaining()} is zero, and always after loss or release
   */
  boolean isValid();

  /**
   * Returns how long the hold lasts without another renewal, by the local clocks and without I/O.
   *
   * @return zero or more; zero after loss or release
   */
  Duration remaining();

  /**
   * Throws unless the hold is valid; by the local clocks and without I/O.
   *
   * @throws HoldLostException if the hold was lost
   * @throws IllegalStateException if it was released
   */
  void ensureValid();

  /**
   * Returns a future that completes if the hold is lost, and never after a release. It is done as soon as {@link
   * #state()} says {@link HoldState#LOST}, also if it is asked for after the loss. It is a copy: completing or cancelling it
   * does nothing to the hold. Dependents run on the callback executor, and may run a moment later.
   *
   * @return completes normally at the loss
   */
  CompletableFuture<@Nullable Void> lost();

  /**
   * Says that another thread will release this hold: the acquiring thread may then wait for the lock again without
   * being told that it waits for itself, and is not interrupted by {@link OnLost#interruptAcquirer()}.
   *
   * @return this
   */
  Hold detach();

  /**
   * Gives the lock back; {@link #isValid()} is false from the start of the call. With {@link LockOptions#holdAtLeast()}
   * the store keeps the name taken until then. A second call does nothing and returns false.
   *
   * <p>An interrupt does not stop the release, and the thread's interrupt flag stays set. If the store does not answer, the
   * call throws after {@code requestTimeout} (2 s by default), and the release goes on in the background until the store
   * confirms it or the lease has ended.
   *
   * @return true if the hold ended by this call; false if it had been lost or released before
   * @throws StoreUnavailableException if the store stayed silent or failed: the lock may stay taken until the lease ends
   */
  boolean release();

  /**
   * As {@link #release()}, but the lock is free at once whatever {@code holdAtLeast} says: for work that failed.
   *
   * @return true if the hold ended by this call; false if it had been lost or released before
   * @throws StoreUnavailableException if the store stayed silent or failed: the lock may stay taken until the lease ends
   */
  boolean releaseNow();

  /**
   * As {@link #release()}, without its exception: after a loss or a release it does nothing, and if the store does not answer
   * within {@code requestTimeout} (2 s by default), that is logged and the release goes on in the background.
   */
  @Override
  void close();
}
