// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockOptions;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One caller's wish for a lock: settled once, with an {@link Outcome}, under the lock of its {@link Lane}; announced
 * afterwards, without it.
 *
 * <p>Exactly one of two things happens to a request: an outcome is delivered to it, or it is withdrawn. A caller that
 * is interrupted or cancelled asks the lane which it was.
 */
class Request extends Timed {
  /** How the request was made, for the self-deadlock check and for loss. */
  enum Kind {
    /** A blocking call on a thread, for a hold that belongs to its handle. */
    BLOCKING,
    /** A blocking call on a thread that then owns the hold. */
    THREAD_OWNED,
    /** Without a thread. */
    ASYNC
  }

  final LockOptions options;
  final Kind kind;
  final boolean onlyTry;
  final @Nullable Thread thread;

  /** Who asked, for people; an asynchronous request keeps the name alone. */
  final String threadName;

  final long startNanos;

  /** When a timed request gives up; meaningless if not {@link #timed}. */
  final long deadlineNanos;

  final boolean timed;

  /** Links of the {@link LocalQueue}; guarded by the lane's lock. */
  @Nullable
  Request next;

  @Nullable
  Request previous;

  boolean queued;

  /** It was woken to take a lock that is free to take, and has not run yet. Lane's lock. */
  volatile boolean called;

  /** Its time was up before anything was heard from the store: the first answer decides. Lane's lock. */
  boolean overdue;

  /** The claim of its own that works for it (a try, a fair wait); guarded by the lane's lock. */
  @Nullable
  Claimant claimant;

  /** Set when the request was submitted, before anything else sees it. */
  @Nullable
  Lane lane;

  /** Written once under the lane's lock; read by the waiting thread without it. */
  private volatile @Nullable Outcome outcome;

  Request(
      LockOptions options,
      Kind kind,
      boolean onlyTry,
      boolean timed,
      long startNanos,
      long waitNanos) {
    this(options, kind, onlyTry, timed, startNanos, waitNanos, Thread.currentThread());
  }

  Request(
      LockOptions options,
      Kind kind,
      boolean onlyTry,
      boolean timed,
      long startNanos,
      long waitNanos,
      Thread caller) {
    this.options = options;
    this.kind = kind;
    this.onlyTry = onlyTry;
    this.timed = timed;
    this.startNanos = startNanos;
    this.deadlineNanos = startNanos + waitNanos;
    this.thread = kind == Kind.ASYNC ? null : caller;
    this.threadName = caller.getName();
  }

  /** Whether a wait could last for ever. */
  boolean untimedWait() {
    return !timed && !onlyTry;
  }

  final @Nullable Outcome outcome() {
    return outcome;
  }

  /** Settles the request; under the lane's lock, once. */
  final void settle(Outcome result) {
    if (outcome != null) {
      throw new IllegalStateException("settled twice");
    }
    outcome = result;
  }

  /** Tells the caller that the request is settled; without the lane's lock. */
  @SuppressWarnings(
      "ReferenceEquality") // a thread is itself, whatever its class says of equals()
  void announce() {
    // settled before it could park: a wake-up would only be left over for whatever the thread parks for next
    if (Thread.currentThread() != thread) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  void due() {
    Lane waitsIn = lane;
    if (waitsIn != null) {
      waitsIn.expire(this);
    }
  }
}
