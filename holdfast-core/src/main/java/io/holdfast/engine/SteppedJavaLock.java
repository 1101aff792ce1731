// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** {@link io.holdfast.JavaLock} for one thread that is none, in steps; see {@link SteppedCall}. */
public final class SteppedJavaLock {
  private final EngineLock lock;
  private final ThreadLock shared;
  private final Thread thread;

  /**
   * Makes a view.
   *
   * @param lock the lock
   * @param thread who calls; never started
   */
  public SteppedJavaLock(DistributedLock lock, Thread thread) {
    this.lock = (EngineLock) lock;
    this.shared = this.lock.lane.threadLock();
    this.thread = thread;
  }

  /**
   * The first half of {@code lock()}: enters again if the thread owns the lock.
   *
   * @return whether it did; if not, {@link #lock} follows
   */
  public boolean enterAgain() {
    return shared.enterAgain(thread);
  }

  /**
   * The second half of {@code lock()}: waits. {@link #own} follows.
   *
   * @param wake runs when the thread would be unparked
   * @return the wait
   */
  public SteppedCall lock(Runnable wake) {
    return SteppedCall.begin(lock, Request.Kind.THREAD_OWNED, null, thread, wake);
  }

  /**
   * The wait returned a hold, which the thread now owns.
   *
   * @param hold the hold
   */
  public void own(Hold hold) {
    shared.own((EngineHold) hold, thread);
  }

  /**
   * {@code unlock()}, without waiting for the store.
   *
   * @return empty if the thread has entered more often; else completes with whether the lock was still ours
   * @throws IllegalMonitorStateException if the thread does not own the lock
   */
  public Optional<CompletableFuture<Boolean>> unlock() {
    ThreadLock.Owner owner = shared.mineOrThrow(thread);
    if (--owner.count > 0) {
      return Optional.empty();
    }
    shared.disown(owner);
    return Optional.of(owner.hold.releaseAsync(false));
  }

  /**
   * Returns {@code holdCount()}.
   *
   * @return how often the thread has entered
   */
  public int holdCount() {
    ThreadLock.Owner owner = shared.mine(thread);
    return owner == null ? 0 : owner.count;
  }
}
