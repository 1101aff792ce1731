// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import java.time.Instant;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link EngineHold} handle stands for. It lives on after the handle was dropped, so that a dropped handle can be
 * noticed and the loss still be told.
 *
 * <p>{@code HELD <-> AT_RISK -> LOST}, {@code HELD | AT_RISK -> RELEASED}. The state changes under the lane's lock only,
 * and is read without it.
 */
final class Ownership {
  final Tenure tenure;
  final long token;
  final LockOptions options;
  final Request.Kind kind;
  final @Nullable Thread thread;

  /** From when {@code holdAtMost} counts. */
  final Moment since;

  private volatile HoldState state = HoldState.HELD;
  volatile boolean detached;
  private volatile @Nullable HoldLostException loss;

  /**
   * Keeps an interrupt that tells of a loss from arriving before the acquirer has the hold, or after {@code release()}
   * has returned.
   */
  private final @Nullable ReentrantLock interruptLock;

  private boolean interruptAllowed;
  private boolean interruptMissed;

  Ownership(Tenure tenure, long token, Request request, Moment since) {
    this.tenure = tenure;
    this.token = token;
    this.options = request.options;
    this.kind = request.kind;
    this.thread = request.thread;
    this.since = since;
    this.interruptLock = options.onLost().interrupts() ? new ReentrantLock() : null;
  }

  HoldState state() {
    return state;
  }

  /** Changes the state; under the lane's lock. */
  void enter(HoldState next) {
    EngineTrace trace = tenure.claimant.lane.engine.trace;
    if (trace != null) {
      trace.holdMoved(state, next);
    }
    state = next;
  }

  boolean isOurs() {
    HoldState now = state;
    return now == HoldState.HELD || now == HoldState.AT_RISK;
  }

  /** What is left of the validity by the clocks alone, in nanoseconds; may be negative. */
  long leftNanos(Moment now) {
    long left = tenure.leftNanos(now);
    if (options.holdAtMost().isPresent()) {
      long most = options.holdAtMost().get().toNanos();
      left = Math.min(left, most - since.elapsedNanos(now.nanos(), now.wallMillis()));
    }
    return left;
  }

  /** Marks the loss; under the lane's lock, once. {@link #tellLoss} follows without it. */
  void lose(String lockName, String store, LossReason reason, Moment now) {
    loss = new HoldLostException(
        lockName, store, token, Instant.ofEpochMilli(now.wallMillis()), reason);
    enter(HoldState.LOST);
  }

  @Nullable
  HoldLostException loss() {
    return loss;
  }

  /** Tells of the loss whoever asked to be told; without locks. */
  void tellLoss(Callbacks callbacks, HoldLostException why) {
    if (interruptLock != null && !detached) {
      interruptAcquirer(interruptLock);
    }
    options.onLost().callback().ifPresent(told -> callbacks.run(() -> told.accept(why)));
  }

  private void interruptAcquirer(ReentrantLock guard) {
    guard.lock();
    try {
      if (interruptAllowed && thread != null) {
        thread.interrupt();
      } else {
        interruptMissed = true;
      }
    } finally {
      guard.unlock();
    }
  }

  /** The acquirer, which is the calling thread, returns with the hold. If that was lost on the way, it is told now. */
  void allowInterrupts() {
    if (interruptLock == null) {
      return;
    }
    interruptLock.lock();
    try {
      interruptAllowed = true;
      if (interruptMissed && thread != null) {
        thread.interrupt();
      }
    } finally {
      interruptLock.unlock();
    }
  }

  /** After this returns no interrupt will be delivered any more. */
  void stopInterrupts() {
    if (interruptLock == null) {
      return;
    }
    interruptLock.lock();
    try {
      interruptAllowed = false;
    } finally {
      interruptLock.unlock();
    }
  }
}
