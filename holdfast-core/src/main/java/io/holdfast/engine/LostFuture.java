// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.HoldState;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A caller's own view of a loss. It is done when the hold says that it is lost, whereas what hangs on it waits for the
 * callback executor, which completes it. Does not refer to the handle, so that a hold can be dropped while this is kept.
 */
final class LostFuture extends CompletableFuture<@Nullable Void> {
  private final Ownership own;

  LostFuture(Ownership own) {
    this.own = own;
  }

  /** Whether it is lost, and this was not completed by its caller. */
  private boolean isLost() {
    return !super.isDone() && own.state() == HoldState.LOST;
  }

  @Override
  public boolean isDone() {
    return super.isDone() || isLost();
  }

  @Override
  public @Nullable Void get() throws InterruptedException, ExecutionException {
    return isLost() ? null : super.get();
  }

  @Override
  public @Nullable Void get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    return isLost() ? null : super.get(timeout, unit);
  }

  @Override
  public @Nullable Void join() {
    return isLost() ? null : super.join();
  }

  @Override
  public @Nullable Void getNow(@Nullable Void absent) {
    return isLost() ? null : super.getNow(null);
  }
}
