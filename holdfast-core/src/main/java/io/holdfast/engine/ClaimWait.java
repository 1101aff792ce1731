// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.AcquireUnknownException;
import io.holdfast.Holder;
import io.holdfast.LockEvent;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Kept;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a claim waits: in the store's queue, where it is refreshed; for a word that the lock may be free; for the end of a
 * pause after a failure. And what is known meanwhile, for those who have waited long enough.
 *
 * <p>Guarded by the lane's lock. Methods that take a {@link Later} are called under it.
 */
final class ClaimWait {
  private final Claimant claimant;
  private final Lane lane;
  private final Engine engine;

  /** The failures since the last answer; null if there was none. */
  private @Nullable Trouble trouble;

  private boolean answeredBusy;

  /** Whether that was said while no fair request of this process waited, which could have the lock itself. */
  private boolean waitedForOthers;

  private @Nullable Holder busyHolder;

  /** Whether the store keeps its place; it is then refreshed, and else asks again. */
  private boolean inStoreQueue;

  /** Whether a refresh is under way. */
  private boolean keepPending;

  /** Whether it pauses after a failure, so that nobody's word makes it ask sooner. */
  private boolean retrying;

  /** Whether the lock may have become free since the attempt that is under way was sent. */
  private boolean lookAgain;

  ClaimWait(Claimant claimant) {
    this.claimant = claimant;
    this.lane = claimant.lane;
    this.engine = lane.engine;
  }

  /** An attempt is being sent. */
  void asking() {
    lookAgain = false;
    retrying = false;
    keepPending = false;
  }

  // answers

  /** The newest attempt was answered, but not granted; or it failed. */
  void notGranted(@Nullable Answer answer, @Nullable Throwable failure, Later later) {
    if (answer instanceof Answer.Busy busy) {
      busy(busy, later);
    } else {
      troubled(failure == null ? Failures.late() : failure, later);
    }
  }

  private void busy(Answer.Busy busy, Later later) {
    trouble = null;
    answeredBusy = true;
    waitedForOthers |= !lane.claims.hasFairWaiters();
    inStoreQueue = busy.queued();
    busyHolder = busy.holder().orElse(null);
    claimant.enter(Claimant.Phase.WAITING);
    Request only = claimant.only;
    if (only != null && only.onlyTry) {
      lane.settle(only, new Outcome.Busy(busyHolder), later);
      claimant.finish(Duration.ZERO, later);
      return;
    }
    lane.expiry().settleOverdue(claimant, later);
    if (!claimant.isWaiting()) {
      return;
    }
    if (lookAgain) {
      claimant.ask(later);
    } else {
      claimant.wakeAt(engine.ticker.nanos() + engine.refreshNanos());
    }
  }

  /** A refresh was answered. */
  void kept(Kept kept, @Nullable Throwable failure, int number, Later later) {
    keepPending = false;
    if (kept instanceof Kept.Held answer) {
      claimant.grantAnswered(number, answer.grant(), later);
    } else if (kept instanceof Kept.Gone) {
      claimant.ask(later);
    } else if (kept instanceof Kept.Queued) {
      trouble = null;
      claimant.wakeAt(engine.ticker.nanos() + engine.refreshNanos());
    } else {
      failed(failure, later);
    }
  }

  /** Somebody says that the lock may be free. */
  void lookAgain(Later later) {
    if (claimant.phase() == Claimant.Phase.ASKING) {
      lookAgain = true;
    } else if (claimant.isWaiting() && !retrying) {
      claimant.ask(later);
    }
  }

  // failures

  /** An attempt failed, or was given up without an answer: retry under the same claim, or tell the callers. */
  void troubled(@Nullable Throwable failure, Later later) {
    claimant.enter(Claimant.Phase.WAITING);
    retrying = true;
    failed(failure, later);
  }

  /** Begins where another claim has failed: with a pause, if those that it works for have the time. */
  void askAfter(Trouble before, Later later) {
    trouble = before;
    claimant.enter(Claimant.Phase.WAITING);
    retrying = true;
    giveUpOrPause(before, later);
  }

  /** Tells those for whom waiting on makes no sense, and pauses for the others. */
  private void failed(@Nullable Throwable failure, Later later) {
    giveUpOrPause(add(failure), later);
  }

  private void giveUpOrPause(Trouble current, Later later) {
    lane.expiry().failHopeless(claimant, current, later);
    if (claimant.isWaiting()) {
      claimant.wakeAt(engine.ticker.nanos() + engine.jitter(current.pauseNanos()));
      tellRetrying(current, later);
    }
  }

  private void tellRetrying(Trouble current, Later later) {
    if (engine.hasListeners() && !engine.isClosed()) {
      String why = Failures.message(current.cause(), engine.store.describe());
      engine.tell(later, () -> new LockEvent.Retrying(claimant.name(), why, current.readyIn()));
    }
  }

  /** Counts a failure; null means that no answer came. */
  Trouble add(@Nullable Throwable failure) {
    Trouble current = trouble == null ? new Trouble(claimant.askedNanos()) : trouble;
    trouble = current;
    current.add(failure, engine.ticker.nanos());
    return current;
  }

  // what is known

  /** Whether the last answer was "busy", so that a time-out means busy too. */
  boolean lastAnswerWasBusy() {
    return answeredBusy && trouble == null;
  }

  /** Whether it was answered "busy" because of another process. */
  boolean waitedForOthers() {
    return waitedForOthers;
  }

  /** Whether nothing has been heard yet, so that a time-out should wait for the first answer. */
  boolean awaitsFirstAnswer() {
    return claimant.attempts.inFlight() && !answeredBusy && trouble == null;
  }

  @Nullable
  Holder busyHolder() {
    return busyHolder;
  }

  /** Says why there is no answer, as an exception for a caller. */
  RuntimeException failure() {
    Throwable cause = trouble == null ? null : trouble.cause();
    boolean isAnswer = cause instanceof StoreException said
        && said.reason() == StoreUnavailableException.Reason.NOT_REPLICATED;
    if ((claimant.attempts.anyUnanswered() || inStoreQueue) && !isAnswer) {
      return new AcquireUnknownException(
          "asked " + engine.store.describe() + " for lock \"" + claimant.name()
              + "\" and got no answer: it may have been granted; it is being withdrawn",
          claimant.name(),
          engine.store.describe(),
          cause);
    }
    return Failures.unavailable(cause, claimant.name(), engine.store.describe());
  }

  // time

  /** It is time to refresh it, or to ask again, or nothing was heard of the refresh. */
  void due(Later later) {
    if (keepPending) {
      keepPending = false;
      failed(null, later);
    } else if (inStoreQueue && !retrying) {
      keepPending = true;
      claimant.refreshing(engine.ticker.nanos());
      // the batched refresh is also how a grant is found whose message was lost
      engine.keeper.add(claimant, null, claimant.attempts.refresh());
      later.add(engine.keeper.flush);
      claimant.wakeAt(engine.ticker.nanos() + engine.requestNanos(claimant.claim));
    } else {
      claimant.ask(later);
    }
  }
}
