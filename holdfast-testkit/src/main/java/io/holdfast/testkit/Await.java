// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.StoreUnavailableException;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.Ticker;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a state instead of for a time. A wait that succeeds costs what the state takes; only one that fails costs
 * {@link #PATIENCE}, which is therefore generous, and can be stretched for slow machines with {@code
 * -Dholdfast.patience=3} (a factor). It looks every millisecond at first, and less and less
 * often, down to every 20 ms. If a store does not answer a look in time, the next look asks again.
 */
public final class Await {
  /** How long a state may take to come: 20 s times the system property {@code holdfast.patience}. */
  public static final Duration PATIENCE = Duration.ofMillis(
      (long) (20_000 * Double.parseDouble(System.getProperty("holdfast.patience", "1"))));

  private static final long FIRST_PAUSE_NANOS = 1_000_000;
  private static final long LAST_PAUSE_NANOS = 20_000_000;

  /** A look may be a request: a pause is this part of the wait so far, so that looks become fewer as the wait lasts. */
  private static final int PART_OF_WAIT = 16;

  private Await() {}

  /**
   * Waits until a condition holds. An interrupt does not shorten the wait; the flag is kept.
   *
   * @param what the state, in words that complete "waited in vain until ..."
   * @param condition looked at repeatedly, less often as the wait lasts
   * @throws AssertionError if it does not hold within {@link #PATIENCE}
   * @throws StoreUnavailableException if the condition fails with it, for any reason other than {@code UNREACHABLE}
   */
  public static void until(String what, BooleanSupplier condition) {
    until(what, PATIENCE, condition);
  }

  /**
   * Waits until a condition holds; for a state that is known to take longer or shorter than most. An interrupt does not shorten
   * the wait; the flag is kept.
   *
   * @param what the state, in words that complete "waited in vain until ..."
   * @param patience how long it may take
   * @param condition looked at repeatedly, less often as the wait lasts
   * @throws AssertionError if it does not hold in that time
   * @throws StoreUnavailableException if the condition fails with it, for any reason other than {@code UNREACHABLE}
   */
  public static void until(String what, Duration patience, BooleanSupplier condition) {
    poll(
        "until " + what,
        patience,
        () -> condition.getAsBoolean() ? Optional.of(true) : Optional.empty());
  }

  /**
   * Waits until there is a value.
   *
   * @param what the value, in words that complete "waited in vain for ..."
   * @param source asked repeatedly, less often as the wait lasts
   * @param <T> the type of the value
   * @return the first value that is present
   * @throws AssertionError if there is none within {@link #PATIENCE}
   * @throws StoreUnavailableException if the source fails with it, for any reason other than {@code UNREACHABLE}
   */
  public static <T> T present(String what, Supplier<Optional<T>> source) {
    return poll("for " + what, PATIENCE, source);
  }

  /**
   * Waits for a stage to complete normally.
   *
   * @param stage the stage
   * @param <T> the type of its value
   * @return its value
   * @throws AssertionError if it fails, or does not complete within {@link #PATIENCE}
   */
  public static <T extends @Nullable Object> T value(CompletionStage<T> stage) {
    return value(stage, PATIENCE);
  }

  /**
   * Waits for a stage to complete normally, which is known to take longer than others.
   *
   * @param stage the stage
   * @param patience how long it may take
   * @param <T> the type of its value
   * @return its value
   * @throws AssertionError if it fails, or does not complete in that time
   */
  public static <T extends @Nullable Object> T value(CompletionStage<T> stage, Duration patience) {
    try {
      return stage.toCompletableFuture().get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("the stage failed", e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("the stage did not complete within " + DurationText.of(patience), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for a stage", e);
    }
  }

  /**
   * Waits for a stage to fail.
   *
   * @param stage the stage
   * @return what it failed with
   * @throws AssertionError if it completes normally, or does not complete within {@link #PATIENCE}
   */
  public static Throwable failure(CompletionStage<?> stage) {
    try {
      Object value = stage.toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      throw new AssertionError("expected a failure, got " + value);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      return cause == null ? e : cause;
    } catch (TimeoutException e) {
      throw new AssertionError("the stage did not complete within " + DurationText.of(PATIENCE), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for a stage", e);
    }
  }

  private static <T> T poll(String what, Duration patience, Supplier<Optional<T>> source) {
    boolean interrupted = Thread.interrupted();
    try {
      long begin = Ticker.system().nanos();
      while (true) {
        StoreUnavailableException unanswered = null;
        try {
          Optional<T> value = source.get();
          if (value.isPresent()) {
            return value.get();
          }
        } catch (StoreUnavailableException e) {
          if (e.reason() != Reason.UNREACHABLE) {
            throw e;
          }
          unanswered = e;
        }
        long waited = Ticker.system().nanos() - begin;
        if (waited > patience.toNanos()) {
          throw new AssertionError(
              "waited " + DurationText.of(patience) + " in vain " + what, unanswered);
        }
        LockSupport.parkNanos(
            Math.min(Math.max(waited / PART_OF_WAIT, FIRST_PAUSE_NANOS), LAST_PAUSE_NANOS));
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
