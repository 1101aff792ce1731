// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Hold;
import io.holdfast.LockOptions;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request whose caller waits on a future.
 *
 * <p>The future belongs to the caller, who may complete it in any way. Whoever completes it first decides: if we do, the
 * hold was taken; if somebody else did, the request is withdrawn, or the hold that was on its way is given back.
 */
final class FutureRequest<T> extends Request {
  final CompletableFuture<T> future;

  private final Engine engine;
  private final Function<Outcome, T> result;

  /** Set before we complete the future, so that the caller's completion can be told from ours. */
  private volatile boolean answered;

  /**
   * Makes a request.
   *
   * @param result turns the outcome into the future's value, or throws what the future fails with
   */
  FutureRequest(
      Engine engine,
      LockOptions options,
      boolean onlyTry,
      boolean timed,
      long waitNanos,
      Function<Outcome, T> result) {
    super(options, Kind.ASYNC, onlyTry, timed, engine.ticker.nanos(), waitNanos);
    this.engine = engine;
    this.result = result;
    this.future = new CompletableFuture<>();
    CompletableFuture<T> unused = future.whenComplete(this::completed);
  }

  /** Asks again for the same future. */
  private FutureRequest(FutureRequest<T> before) {
    super(
        before.options,
        Kind.ASYNC,
        before.onlyTry,
        before.timed,
        before.engine.ticker.nanos(),
        Math.max(0, before.deadlineNanos - before.engine.ticker.nanos()));
    this.engine = before.engine;
    this.result = before.result;
    this.future = before.future;
    CompletableFuture<T> unused = future.whenComplete(this::completed);
  }

  @Override
  void announce() {
    engine.callbacks.complete(this::answer);
  }

  private void answer() {
    Outcome outcome = Objects.requireNonNull(outcome());
    if (outcome instanceof EngineHold hold && !hold.isValid() && !future.isDone()) {
      // the callback came so late that the hold has ended: the caller never had it
      giveBack(hold);
      askAgain();
      return;
    }
    answered = true;
    boolean taken;
    try {
      taken = future.complete(result.apply(outcome));
    } catch (RuntimeException e) {
      taken = future.completeExceptionally(e);
    }
    if (!taken && outcome instanceof EngineHold hold) {
      giveBack(hold);
    }
  }

  private void askAgain() {
    Lane before = Objects.requireNonNull(lane);
    FutureRequest<T> again = new FutureRequest<>(this);
    before.submit(again);
    if (future.isDone()) {
      // completed by its owner before there was a lane to withdraw from
      again.completed(null, null);
    }
  }

  private void completed(@Nullable T value, @Nullable Throwable failure) {
    Lane waitsIn = lane;
    if (!answered && waitsIn != null) {
      waitsIn.withdraw(this, new CancellationException("the future was completed by its owner"));
    }
  }

  private static void giveBack(Hold hold) {
    CompletableFuture<Boolean> unused = ((EngineHold) hold)
        .releaseAsync(true)
        .whenComplete((ours, failure) -> {
          if (failure != null) {
            Log.thrown(
                System.Logger.Level.WARNING,
                "lock=" + hold.lockName()
                    + ": a grant that no caller took is still being given back",
                failure);
          }
        });
  }
}
