// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What blocks a thread in production, in steps for a simulator that has no threads to block: the blocking calls, and
 * closing. The steps are the very ones that production takes.
 */
public final class SteppedCall {
  private final EngineLock lock;
  private final BlockingCall call;
  private @Nullable Outcome outcome;

  private SteppedCall(EngineLock lock, BlockingCall call) {
    this.lock = lock;
    this.call = call;
    this.outcome = call.outcome();
  }

  /**
   * Begins {@link DistributedLock#acquire()}, {@link DistributedLock#tryAcquire(Duration)} or {@link
   * DistributedLock#tryAcquire()}.
   *
   * @param lock the lock
   * @param waitAtMost null for no limit; zero for one attempt
   * @param thread who calls; never started
   * @param wake runs when the thread would be unparked
   * @return the call
   */
  public static SteppedCall acquire(
      DistributedLock lock, @Nullable Duration waitAtMost, Thread thread, Runnable wake) {
    return begin(lock, Request.Kind.BLOCKING, waitAtMost, thread, wake);
  }

  static SteppedCall begin(
      DistributedLock lock,
      Request.Kind kind,
      @Nullable Duration waitAtMost,
      Thread thread,
      Runnable wake) {
    EngineLock engineLock = (EngineLock) lock;
    return new SteppedCall(
        engineLock, new BlockingCall(engineLock, kind, false, waitAtMost, thread, wake).begin());
  }

  /**
   * The thread was unparked and runs.
   *
   * @return whether the call has returned
   */
  public boolean run() {
    if (outcome == null) {
      call.awake();
      outcome = call.outcome();
    }
    return outcome != null;
  }

  /**
   * The thread was interrupted and runs.
   *
   * @return whether the call has thrown {@link InterruptedException}; otherwise it has returned
   */
  public boolean interrupt() {
    while (!run()) {
      if (call.withdraw()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Says whether the call has returned.
   *
   * @return false while the thread is parked
   */
  public boolean isDone() {
    return outcome != null;
  }

  /**
   * Returns or throws what the call did.
   *
   * @return empty if somebody else has the lock
   */
  public Optional<Hold> result() {
    return lock.holdIfFree(Objects.requireNonNull(outcome, "still parked"));
  }

  /**
   * Begins {@link Holdfast#close()}.
   *
   * @param holdfast the client
   * @return completes with the first answers; waits for them at most for one request's time, then call {@link
   *     #finishClose}. Null if it was closed before
   */
  public static @Nullable CompletableFuture<?> beginClose(Holdfast holdfast) {
    return ((Engine) holdfast).beginClose();
  }

  /**
   * Ends {@link Holdfast#close()}.
   *
   * @param holdfast the client
   */
  public static void finishClose(Holdfast holdfast) {
    ((Engine) holdfast).finishClose();
  }

  /**
   * Lets a hold's handle look garbage-collected, at this very moment.
   *
   * @param hold a hold that nobody uses any more
   */
  public static void drop(Hold hold) {
    ((EngineHold) hold).drop();
  }
}
