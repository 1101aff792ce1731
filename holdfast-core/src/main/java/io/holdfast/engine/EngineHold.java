// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.HoldfastException;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.spi.DurationText;
import java.lang.System.Logger.Level;
import java.lang.ref.Reference;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a hold. Only the caller keeps it alive: a handle that is garbage-collected before its release is noticed
 * by the next renewal.
 */
public final class EngineHold implements Hold, Outcome {
  private final Lane lane;
  private final Ownership own;

  /**
   * Made when it is first asked for, under the lane's lock. It lives here and not in {@link Ownership}, which the engine
   * keeps: what a caller hangs on it often refers to the hold, and would keep a dropped hold from being noticed.
   */
  private volatile @Nullable CompletableFuture<@Nullable Void> lostFuture;

  EngineHold(Lane lane, Ownership own) {
    this.lane = lane;
    this.own = own;
  }

  @Override
  public String lockName() {
    return lane.key.name();
  }

  @Override
  public long token() {
    return own.token;
  }

  @Override
  public HoldState state() {
    leftNanos();
    return own.state();
  }

  @Override
  public boolean isValid() {
    return leftNanos() > 0;
  }

  @Override
  public Duration remaining() {
    return Duration.ofNanos(leftNanos());
  }

  @Override
  public void ensureValid() {
    HoldState now = state();
    if (now == HoldState.LOST) {
      throw lossException();
    }
    if (now == HoldState.RELEASED) {
      throw new IllegalStateException(
          "the hold on lock \"" + lockName() + "\" was released; acquire the lock again");
    }
  }

  @Override
  public CompletableFuture<@Nullable Void> lost() {
    CompletableFuture<@Nullable Void> future = lostFuture();
    if (own.state() == HoldState.LOST) {
      // whoever marked the loss may not have seen a future that is made just now
      completeLost();
    }
    LostFuture copy = new LostFuture(own);
    var unused = future.thenRun(() -> copy.complete(null));
    return copy;
  }

  private CompletableFuture<@Nullable Void> lostFuture() {
    lane.lock.lock();
    try {
      CompletableFuture<@Nullable Void> future = lostFuture;
      if (future == null) {
        future = new CompletableFuture<>();
        lostFuture = future;
      }
      return future;
    } finally {
      lane.lock.unlock();
    }
  }

  /** Completes the future of the loss, if somebody has asked for it. */
  void completeLost() {
    CompletableFuture<@Nullable Void> future = lostFuture;
    if (future != null && !future.isDone()) {
      lane.engine.callbacks.run(() -> future.complete(null));
    }
  }

  @Override
  public Hold detach() {
    own.detached = true;
    return this;
  }

  @Override
  public boolean release() {
    return releaseAndWait(false);
  }

  @Override
  public boolean releaseNow() {
    return releaseAndWait(true);
  }

  @Override
  public void close() {
    boolean unused = releaseQuietly(false);
  }

  /**
   * Releases; a store that does not confirm it is a line in the log.
   *
   * @param now whether {@code holdAtLeast} does not count
   * @return false only if the hold was not ours any more
   */
  boolean releaseQuietly(boolean now) {
    try {
      return releaseAndWait(now);
    } catch (HoldfastException e) {
      Log.thrown(
          Level.WARNING,
          "lock=" + lockName() + " token=" + token()
              + ": the store did not confirm the release; it goes on in the background",
          e);
      return true;
    }
  }

  /**
   * Releases without blocking.
   *
   * @param now whether {@code holdAtLeast} is ignored
   * @return completes with whether the hold was still ours, on whatever thread learns it
   */
  public CompletableFuture<Boolean> releaseAsync(boolean now) {
    try {
      return lane.holding.release(own, now, false);
    } finally {
      // until then this handle must not look dropped
      Reference.reachabilityFence(this);
    }
  }

  /** Lets this handle look garbage-collected now. */
  void drop() {
    own.tenure.dropHandle(this);
  }

  HoldLostException lossException() {
    return Objects.requireNonNull(own.loss(), "lost without a reason");
  }

  @Nullable
  HoldLostException loss() {
    return state() == HoldState.LOST ? own.loss() : null;
  }

  /**
   * Why a release that was told "not ours" was: lost before, or gone from the store without our having been told.
   *
   * @param wasOurs whether it was ours as far as was known here
   */
  @Nullable
  HoldLostException lossAtRelease(boolean wasOurs) {
    HoldLostException known = own.loss();
    if (known != null || !wasOurs) {
      return known;
    }
    Instant now = Instant.ofEpochMilli(lane.engine.ticker.wallMillis());
    return new HoldLostException(
        lockName(), lane.engine.store.describe(), token(), now, LossReason.GONE);
  }

  /** The state as it was last written, without looking at the clocks: for entering again. */
  boolean isOursByState() {
    return own.isOurs();
  }

  /** Returns what is left of the validity; once that was nothing it stays so, whatever the clocks say later. */
  private long leftNanos() {
    if (!own.isOurs()) {
      return 0;
    }
    Moment now = lane.engine.ticker.now();
    long left = own.leftNanos(now);
    return left > 0 ? left : Math.max(0, lane.holding.checkTime(own, now));
  }

  /** For a log. It changes nothing and takes no lock: a hold whose time is up is marked as lost by others. */
  @Override
  public String toString() {
    return "hold on \"" + lockName() + "\", " + words();
  }

  /** Token, state and what is left, without the name. */
  String words() {
    HoldState now = own.state();
    HoldLostException loss = own.loss();
    String text = "token " + token() + ", ";
    if (loss != null) {
      return text + HoldState.LOST + ": " + loss.reason().explanation();
    }
    if (now == HoldState.RELEASED) {
      return text + now;
    }
    long left = own.leftNanos(lane.engine.ticker.now());
    return left > 0
        ? text + now + ", " + DurationText.of(Duration.ofNanos(left)) + " left"
        : text + HoldState.LOST + ": its time is up";
  }

  /** The acquiring thread has it now: a loss may interrupt it. */
  void taken() {
    own.allowInterrupts();
  }

  private boolean releaseAndWait(boolean now) {
    try {
      return join(lane.holding.release(own, now, true));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private static boolean join(CompletableFuture<Boolean> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof HoldfastException known) {
        throw known;
      }
      throw e;
    }
  }
}
