// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One holder's ownership of a lock. Belongs to whoever has this handle, not to a thread. Thread-safe.
 *
 * <h2>Guarantees</h2>
 *
 * {@link #isValid()} turns false before the store's lease can end: after {@code L - (1 % of L + 10 ms + the store's
 * granularity)}, counted from the instant before the request was sent, by whichever of the monotonic and the wall clock
 * says more. The token is greater than those of all earlier grants.
 *
 * <h2>Not guaranteed</h2>
 *
 * Validity across a store clock that steps forward, failover, data loss, force release, or a freeze that no local clock
 * shows. A check and the write that follows it are two steps: only a resource that checks the token closes the gap.
 *
 * <h2>Failure</h2>
 *
 * A hold that is garbage-collected unreleased is released and reported.
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
   * store. Print it as a string in JSON; never pass it through a double. Tokens of different names or stores do not
   * compare. Stays readable after loss and release.
   *
   * @return the token
   */
  long token();

  /**
   * Returns the state. Local, no I/O. A hold whose time is up reads {@link HoldState#LOST} at once.
   *
   * @return the state
   */
  HoldState state();

  /**
   * Says whether the hold is ours at this instant. Local, no I/O.
   *
   * @return false once {@link #remaining()} is zero, and for ever after loss or release
   */
  boolean isValid();

  /**
   * Returns how long the hold is certainly ours without another renewal. Local, no I/O.
   *
   * @return zero or more; zero after loss or release
   */
  Duration remaining();

  /**
   * Does nothing while the hold is valid.
   *
   * @throws HoldLostException if the hold was lost
   * @throws IllegalStateException if it was released
   */
  void ensureValid();

  /**
   * Returns a future that completes, once, if the hold is lost; never after a release. It is done as soon as {@link
   * #state()} says {@link HoldState#LOST}, also if it is asked for after the loss. A copy: completing or cancelling it does
   * nothing to the hold. Dependents run on the callback executor, and may run a moment later.
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
   * <p>Interrupt: does not stop it, the flag stays. Store unreachable or reply lost: throws after {@code
   * requestTimeout}; the release goes on in the background until it is confirmed or the lease has ended.
   *
   * @return true if the hold was still ours; false if it had been lost or released before
   * @throws StoreUnavailableException if the store stayed silent or failed: the lock may stay taken until the lease ends
   */
  boolean release();

  /**
   * As {@link #release()}, but the lock is free at once whatever {@code holdAtLeast} says: for work that failed.
   *
   * @return true if the hold was still ours; false if it had been lost or released before
   * @throws StoreUnavailableException if the store stayed silent or failed: the lock may stay taken until the lease ends
   */
  boolean releaseNow();

  /** As {@link #release()}, quiet after loss, release or silence of the store (which is logged). */
  @Override
  void close();
}
