// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request whose answer serves all callers that ask while it is under way. A thousand waiters that share a session would
 * otherwise each send a renewal to a server that is slow to answer, and keep it slow.
 *
 * <p>A request that has had no answer for a while may have been lost: the next caller sends another one, which then serves those that
 * follow. An answer is not kept: a caller that asks after it sends a new request.
 *
 * <pre>{@code
 * SharedRequest<Boolean> renewal = new SharedRequest<>(ticker, Duration.ofMillis(100));
 * CompletableFuture<Boolean> isThere = renewal.ask(sentAt -> server.renew(session));
 * }</pre>
 *
 * <p>Thread-safe. No lock is held while a request is sent or its answer is told.
 *
 * @param <T> the answer
 */
public final class SharedRequest<T> {
  private final Ticker ticker;
  private final long sharedForNanos;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private @Nullable CompletableFuture<T> underWay;
  private long sentAt;

  /**
   * Creates one without sending a request.
   *
   * @param ticker the local clocks
   * @param sharedFor how long an unanswered request is shared, from when it was sent
   * @throws NullPointerException if an argument is null
   * @throws ArithmeticException if {@code sharedFor} is beyond 292 years
   */
  public SharedRequest(Ticker ticker, Duration sharedFor) {
    this.ticker = Objects.requireNonNull(ticker, "ticker");
    this.sharedForNanos = Objects.requireNonNull(sharedFor, "sharedFor").toNanos();
  }

  /**
   * Returns the answer to the request that is under way, or to one that is sent now.
   *
   * @param send sends the request; is given the moment before that. What it throws fails the returned future
   * @return a new future for this caller, which completes or fails with the request. It has no time-out: if the request gets
   *     no answer, it never completes. Cancelling it leaves the request and the other callers alone
   * @throws NullPointerException if {@code send} is null
   */
  public CompletableFuture<T> ask(Function<? super Moment, ? extends CompletionStage<T>> send) {
    return ask(Long.MIN_VALUE, send);
  }

  /**
   * As {@link #ask(Function)}, but shares only a request that was sent no earlier than a moment.
   *
   * @param earliestNanos that moment, by {@link Ticker#nanos()}; {@link Long#MIN_VALUE} if any will do
   * @param send sends the request; is given the moment before that. What it throws fails the returned future
   * @return a new future for this caller, which completes or fails with the request. It has no time-out: if the request gets
   *     no answer, it never completes. Cancelling it leaves the request and the other callers alone
   * @throws NullPointerException if {@code send} is null
   */
  public CompletableFuture<T> ask(
      long earliestNanos, Function<? super Moment, ? extends CompletionStage<T>> send) {
    Objects.requireNonNull(send, "send");
    CompletableFuture<T> asked = new CompletableFuture<>();
    Moment now;
    lock.lock();
    try {
      now = ticker.now();
      CompletableFuture<T> other = underWay;
      if (other != null
          && !other.isDone()
          && now.nanos() - sentAt < sharedForNanos
          && (earliestNanos == Long.MIN_VALUE || sentAt - earliestNanos >= 0)) {
        return other.copy();
      }
      underWay = asked;
      sentAt = now.nanos();
    } finally {
      lock.unlock();
    }
    send(send, now).whenComplete((answer, failure) -> {
      if (failure == null) {
        asked.complete(answer);
      } else {
        asked.completeExceptionally(failure);
      }
    });
    return asked.copy();
  }

  private CompletionStage<T> send(
      Function<? super Moment, ? extends CompletionStage<T>> send, Moment now) {
    try {
      return Objects.requireNonNull(send.apply(now), "stage");
    } catch (Throwable failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }
}
