// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.AcquireTimeoutException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.JavaLock;
import io.holdfast.LockOptions;
import io.holdfast.Work;
import io.holdfast.WorkWithResult;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A name and options: turns calls into requests, and outcomes into results. */
final class EngineLock implements DistributedLock {
  final Engine engine;
  final LockKey key;
  final LockOptions options;
  final Lane lane;

  EngineLock(Lane lane, LockOptions options) {
    this.lane = lane;
    this.engine = lane.engine;
    this.key = lane.key;
    this.options = Objects.requireNonNull(options, "options");
    engine.check(options, key);
  }

  @Override
  public String name() {
    return key.name();
  }

  @Override
  public DistributedLock withOptions(LockOptions other) {
    return new EngineLock(lane, other);
  }

  @Override
  public Hold acquire() throws InterruptedException {
    return hold(block(Request.Kind.BLOCKING, false, null, true));
  }

  @Override
  public Hold acquire(Duration waitAtMost) throws InterruptedException {
    Objects.requireNonNull(waitAtMost, "waitAtMost");
    return holdWithin(block(Request.Kind.BLOCKING, false, waitAtMost, true), waitAtMost);
  }

  @Override
  public Optional<Hold> tryAcquire() {
    return holdIfFree(tryOnce(Request.Kind.BLOCKING));
  }

  @Override
  public Optional<Hold> tryAcquire(Duration waitAtMost) throws InterruptedException {
    Objects.requireNonNull(waitAtMost, "waitAtMost");
    return holdIfFree(block(Request.Kind.BLOCKING, false, waitAtMost, true));
  }

  @Override
  public CompletableFuture<Hold> acquireAsync() {
    return submit(new FutureRequest<>(engine, options, false, false, 0, this::hold));
  }

  @Override
  public CompletableFuture<Hold> acquireAsync(Duration waitAtMost) {
    long wait = Checks.waitNanos(Objects.requireNonNull(waitAtMost, "waitAtMost"));
    return submit(new FutureRequest<>(
        engine, options, wait == 0, true, wait, outcome -> holdWithin(outcome, waitAtMost)));
  }

  @Override
  public CompletableFuture<Optional<Hold>> tryAcquireAsync() {
    return submit(new FutureRequest<>(engine, options, true, true, 0, this::holdIfFree));
  }

  @Override
  public CompletableFuture<Optional<Hold>> tryAcquireAsync(Duration waitAtMost) {
    long wait = Checks.waitNanos(Objects.requireNonNull(waitAtMost, "waitAtMost"));
    return submit(new FutureRequest<>(engine, options, wait == 0, true, wait, this::holdIfFree));
  }

  @Override
  public <X extends Exception> boolean tryRun(Work<X> work) throws X {
    Objects.requireNonNull(work, "work");
    Outcome outcome = tryOnce(Request.Kind.BLOCKING);
    if (outcome instanceof Outcome.Busy) {
      return false;
    }
    WorkWithResult<Boolean, X> run = hold -> {
      work.run(hold);
      return true;
    };
    return doAndRelease(hold(outcome), run);
  }

  @Override
  public <X extends Exception> void run(Work<X> work) throws X, InterruptedException {
    Objects.requireNonNull(work, "work");
    WorkWithResult<Boolean, X> run = hold -> {
      work.run(hold);
      return true;
    };
    doAndRelease(acquire(), run);
  }

  @Override
  public <T extends @Nullable Object, X extends Exception> T call(WorkWithResult<T, X> work)
      throws X, InterruptedException {
    Objects.requireNonNull(work, "work");
    return doAndRelease(acquire(), work);
  }

  @Override
  public JavaLock asJavaLock() {
    return new JavaLockView(this, lane.threadLock());
  }

  @Override
  public String toString() {
    return "lock \"" + key + "\" on " + engine.store.describe();
  }

  private <T extends @Nullable Object, X extends Exception> T doAndRelease(
      Hold hold, WorkWithResult<T, X> work) throws X {
    EngineHold held = (EngineHold) hold;
    T result;
    boolean done = false;
    try {
      result = work.call(hold);
      done = true;
    } finally {
      if (!done) {
        held.releaseQuietly(true);
      }
    }
    boolean wasOurs = held.isOursByState();
    boolean ours = held.releaseQuietly(false);
    HoldLostException loss = ours ? null : held.lossAtRelease(wasOurs);
    if (loss != null) {
      throw loss;
    }
    return result;
  }

  // requests

  private <T> CompletableFuture<T> submit(FutureRequest<T> request) {
    Patience none = Patience.none();
    try {
      lane.submit(request);
    } finally {
      none.end();
    }
    return request.future;
  }

  Outcome tryOnce(Request.Kind kind) {
    try {
      return block(kind, true, null, false);
    } catch (InterruptedException e) {
      throw new AssertionError("not interruptible", e);
    }
  }

  /**
   * Submits a request and parks until it is settled.
   *
   * @param waitAtMost null for no limit
   * @param interruptible false to keep an interrupt for later
   */
  Outcome block(
      Request.Kind kind, boolean onlyTry, @Nullable Duration waitAtMost, boolean interruptible)
      throws InterruptedException {
    if (interruptible && Thread.interrupted()) {
      throw new InterruptedException();
    }
    BlockingCall call =
        new BlockingCall(this, kind, onlyTry, waitAtMost, Thread.currentThread(), null);
    boolean interrupted = false;
    Patience patience = Patience.begin(call::waitsFor);
    try {
      call.begin();
      while (true) {
        if (patience.wasUsed()) {
          call.mayHaveBlocked();
        }
        Outcome outcome = call.outcome();
        if (outcome != null) {
          return outcome;
        }
        if (interrupted && interruptible) {
          if (call.withdraw()) {
            interrupted = false;
            throw new InterruptedException();
          }
          // settled meanwhile; a park might wait for a wake-up that was used up on the way
          continue;
        }
        if (!call.wasCalled()) {
          LockSupport.park(this);
        }
        call.awake();
        interrupted |= Thread.interrupted();
      }
    } finally {
      patience.end();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  // outcomes

  Hold hold(Outcome outcome) {
    if (outcome instanceof EngineHold hold) {
      return hold;
    }
    throw failure(outcome, Duration.ZERO);
  }

  private Hold holdWithin(Outcome outcome, Duration waited) {
    if (outcome instanceof EngineHold hold) {
      return hold;
    }
    throw failure(outcome, waited);
  }

  Optional<Hold> holdIfFree(Outcome outcome) {
    return outcome instanceof Outcome.Busy ? Optional.empty() : Optional.of(hold(outcome));
  }

  private RuntimeException failure(Outcome outcome, Duration waited) {
    if (outcome instanceof Outcome.Failed failed) {
      failed.cause().addSuppressed(new CallSite());
      return failed.cause();
    }
    Outcome.Busy busy = (Outcome.Busy) outcome;
    return new AcquireTimeoutException(key.name(), engine.store.describe(), waited, busy.holder());
  }

  /** Where the caller was: the failure itself may have been made on another thread. */
  private static final class CallSite extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CallSite() {
      super("acquired here");
    }
  }
}
