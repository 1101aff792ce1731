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
 * A request whose answer serves all callers that ask while it is under way. A thousand waiters that share a session would else
 * send one renewal each to a server that is slow to answer, and keep it slow.
 *
 * <p>A request that has had no answer for a while may have been lost: the next caller sends another one, which then serves those that
 * follow. An answer is never kept: what is asked behind it is sent.
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
   * Makes one. Nothing is sent.
   *
   * @param ticker the local clocks
   * @param sharedFor how long after it was sent a request without an answer serves further callers
   * @throws NullPointerException if an argument is null
   */
  public SharedRequest(Ticker ticker, Duration sharedFor) {
    this.ticker = Objects.requireNonNull(ticker, "ticker");
    this.sharedForNanos = Objects.requireNonNull(sharedFor, "sharedFor").toNanos();
  }

  /**
   * Returns the answer to the request that is under way, or to one that is sent now.
   *
   * @param send sends the request; is given the moment before that. What it throws fails the answer
   * @return a future of this caller's own; completes and fails as the request does, and never if that gets no answer
   * @throws NullPointerException if {@code send} is null
   */
  public CompletableFuture<T> ask(Function<? super Moment, ? extends CompletionStage<T>> send) {
    return ask(Long.MIN_VALUE, send);
  }

  /**
   * As {@link #ask(Function)}, but shares only a request that was sent at some moment or later.
   *
   * @param earliestNanos that moment, by {@link Ticker#nanos()}; {@link Long#MIN_VALUE} if any will do
   * @param send sends the request; is given the moment before that. What it throws fails the answer
   * @return a future of this caller's own; completes and fails as the request does, and never if that gets no answer
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
      return send.apply(now);
    } catch (RuntimeException failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }
}
