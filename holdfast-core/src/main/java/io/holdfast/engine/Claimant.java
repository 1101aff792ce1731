// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.AcquireUnknownException;
import io.holdfast.Holder;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Takes one claim through the store, from the first attempt to its confirmed end.
 *
 * <pre>
 *   ASKING  an attempt is under way                -> HELD, WAITING, ENDING, OVER
 *   WAITING busy, or a pause before a retry        -> ASKING, HELD (pushed), ENDING, OVER
 *   HELD    granted; see {@link Tenure}            -> ENDING, OVER
 *   ENDING  released, withdrawn or lost; {@link Ending} repeats until that is certain -> OVER
 *   OVER    nothing of it is left, and nothing can come
 * </pre>
 *
 * <p>What we know of attempts: an attempt that was not answered may have been applied, and until its {@code giveUpAt}
 * may still be. {@link #unanswered} counts those; only when it is zero, or the store's clock is past the last {@code
 * giveUpAt}, is an end final.
 *
 * <p>All fields are guarded by the lane's lock. Methods that take a {@link Later} are called under it.
 */
final class Claimant extends Timed {
  enum Phase {
    ASKING,
    WAITING,
    HELD,
    ENDING,
    OVER
  }

  private static final long LAPSE_GRACE_NANOS = 10_000_000L;

  final Lane lane;
  final Engine engine;
  final Claim claim;
  final Mode mode;
  final LockOptions options;

  /**
   * The one request it works for; null if it works for the lane's queue, and once it was granted: what is kept here would
   * keep the hold's handle from being noticed as dropped.
   */
  @Nullable
  Request only;

  private Phase phase = Phase.ASKING;

  @Nullable
  Tenure tenure;

  /** The last {@code giveUpAt} that was sent. */
  Instant lastGiveUp = Instant.MIN;

  /** Attempts that may have been applied without our knowing. */
  int unanswered;

  /** Whether the newest attempt is neither answered nor given up. */
  boolean inFlight;

  /** The failures since the last answer; null if there was none. */
  private @Nullable Trouble trouble;

  private long askedNanos;
  private @Nullable Ending ending;
  private @Nullable Long contactedNanos;
  private int asked;
  private long wakeNanos;
  private boolean onTimer;
  private long armedNanos;
  private boolean inStoreQueue;
  private boolean answeredBusy;

  /** Whether any attempt, however late its answer came, left something that waits. */
  private boolean leftWaiter;

  private boolean lookAgain;
  private boolean retrying;
  private boolean keepPending;
  private @Nullable Holder busyHolder;

  Claimant(Lane lane, Claim claim, Mode mode, LockOptions options, @Nullable Request only) {
    this.lane = lane;
    this.engine = lane.engine;
    this.claim = claim;
    this.mode = mode;
    this.options = options;
    this.only = only;
  }

  String name() {
    return lane.key.name();
  }

  Phase phase() {
    return phase;
  }

  private void enter(Phase next) {
    EngineTrace trace = engine.trace;
    if (trace != null && next != phase) {
      trace.claimMoved(claim.id(), phase.name(), next.name());
    }
    phase = next;
  }

  // asking

  /** Sends an attempt, once the lock is free. */
  void ask(Later later) {
    ask(later, false);
  }

  private void ask(Later later, boolean contacted) {
    enter(Phase.ASKING);
    lookAgain = false;
    retrying = false;
    keepPending = false;
    inFlight = true;
    unanswered++;
    int number = ++asked;
    long now = engine.ticker.nanos();
    long timeout = timeout(now);
    askedNanos = now;
    // a wake-up for what came before must not be taken for this attempt's time-out
    wakeNanos = now + timeout;
    Instant giveUp;
    try {
      giveUp = engine.store.time().plusNanos(timeout);
    } catch (RuntimeException | Error e) {
      // as if its verb had thrown, but certainly not applied
      later.add(() -> answered(number, null, Failures.notAsked(e)));
      return;
    }
    if (giveUp.isAfter(lastGiveUp)) {
      lastGiveUp = giveUp;
    }
    later.add(() -> {
      if (contacted || engine.isConnected()) {
        send(number, giveUp, timeout);
      } else {
        // The contact has a time-out of its own; the attempt's begins after it, however short that is.
        engine
            .contact()
            .whenComplete((ready, failure) -> Guard.run(() -> contacted(number, failure)));
      }
    });
  }

  /** The first contact with the store was made, or failed: now the attempt can be sent, or has failed. */
  private void contacted(int number, @Nullable Throwable failure) {
    if (failure != null) {
      answered(number, null, failure);
      return;
    }
    Later later = new Later();
    lane.lock.lock();
    try {
      unanswered--;
      if (inFlight && number == asked) {
        inFlight = false;
        contactedNanos = engine.ticker.nanos();
        if (phase == Phase.ASKING) {
          ask(later, true);
        } else if (phase == Phase.ENDING) {
          ending().attemptAnswered(null, later);
        }
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /** A try has one time-out for all its attempts. */
  private long timeout(long now) {
    long timeout = engine.requestNanos(claim);
    if (only == null || !only.onlyTry) {
      return timeout;
    }
    return Math.max(1, Math.min(timeout, triesSince(only) + timeout - now));
  }

  /** When the time of a try began: with the call, or with the first contact if that was made for it. */
  long triesSince(Request request) {
    return contactedNanos == null ? request.startNanos : contactedNanos;
  }

  private void send(int number, Instant giveUp, long timeoutNanos) {
    CompletionStage<Answer> stage = engine.attempt(claim, mode, giveUp);
    // not a subclass: the minimal stages that failedStage() makes are futures, and refuse to be asked
    if (stage.getClass() == CompletableFuture.class
        && stage instanceof CompletableFuture<Answer> future
        && future.isDone()
        && !future.isCompletedExceptionally()) {
      answered(number, future.join(), null);
      return;
    }
    stage.whenComplete((answer, failure) -> Guard.run(() -> answered(number, answer, failure)));
    lane.lock.lock();
    try {
      if (inFlight && asked == number) {
        wakeAt(engine.ticker.nanos() + timeoutNanos);
      }
    } finally {
      lane.lock.unlock();
    }
  }

  private void answered(int number, @Nullable Answer answer, @Nullable Throwable failure) {
    Later later = new Later();
    lane.lock.lock();
    try {
      boolean newest = inFlight && number == asked;
      if (newest) {
        inFlight = false;
      }
      if (answer != null || Failures.notApplied(failure)) {
        unanswered--;
      }
      // also if it was given up meanwhile, and whatever a later attempt is answered
      leftWaiter |= mode == Mode.QUEUE && answer instanceof Answer.Busy;
      if (phase == Phase.ENDING) {
        if (newest) {
          ending().attemptAnswered(answer, later);
        }
      } else if (phase == Phase.ASKING || phase == Phase.WAITING) {
        if (answer instanceof Answer.Granted granted) {
          // also the late answer of an attempt that was given up: the claim is the same
          granted(granted.grant(), later);
        } else if (newest) {
          notGranted(answer, failure, later);
        }
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  private void notGranted(@Nullable Answer answer, @Nullable Throwable failure, Later later) {
    if (answer instanceof Answer.Busy busy) {
      busy(busy, later);
    } else {
      troubled(failure == null ? Failures.late() : failure, later);
    }
  }

  private void busy(Answer.Busy busy, Later later) {
    trouble = null;
    answeredBusy = true;
    inStoreQueue = busy.queued();
    busyHolder = busy.holder().orElse(null);
    enter(Phase.WAITING);
    if (only != null && only.onlyTry) {
      lane.settle(only, new Outcome.Busy(busyHolder), later);
      finish(Duration.ZERO, later);
      return;
    }
    lane.settleOverdue(this, later);
    if (phase != Phase.WAITING) {
      return;
    }
    if (lookAgain) {
      ask(later);
    } else {
      wakeAt(engine.ticker.nanos() + engine.refreshNanos());
    }
  }

  /** An attempt failed, or was given up without an answer: retry under the same claim, or tell the callers. */
  private void troubled(@Nullable Throwable failure, Later later) {
    enter(Phase.WAITING);
    retrying = true;
    failed(failure, later);
  }

  /** Tells those for whom waiting on makes no sense, and pauses for the others. */
  private void failed(@Nullable Throwable failure, Later later) {
    giveUpOrPause(troubleWith(failure), later);
  }

  private Trouble troubleWith(@Nullable Throwable failure) {
    Trouble current = trouble == null ? new Trouble(askedNanos) : trouble;
    trouble = current;
    current.add(failure);
    return current;
  }

  private void giveUpOrPause(Trouble current, Later later) {
    lane.failHopeless(this, current, later);
    if (phase == Phase.WAITING) {
      wakeAt(engine.ticker.nanos() + engine.jitter(current.pauseNanos()));
    }
  }

  /** Begins where another claim has failed: with a pause, if those that it works for have the time. */
  void askAfter(Trouble before, Later later) {
    trouble = before;
    enter(Phase.WAITING);
    retrying = true;
    giveUpOrPause(before, later);
  }

  /** Whether the last answer was "busy", so that a time-out means busy too. */
  boolean lastAnswerWasBusy() {
    return answeredBusy && trouble == null;
  }

  /** Whether nothing has been heard yet, so that a time-out should wait for the first answer. */
  boolean awaitsFirstAnswer() {
    return inFlight && !answeredBusy && trouble == null;
  }

  @Nullable
  Holder busyHolder() {
    return busyHolder;
  }

  /** Says why there is no answer, as an exception for a caller. */
  RuntimeException failure() {
    Throwable cause = trouble == null ? null : trouble.cause();
    if (unanswered > 0 || inStoreQueue) {
      return new AcquireUnknownException(
          "asked " + engine.store.describe() + " for lock \"" + name()
              + "\" and got no answer: it may have been granted; it is being withdrawn",
          name(),
          engine.store.describe(),
          cause);
    }
    return Failures.unavailable(cause, name(), engine.store.describe());
  }

  // granted

  /** The store granted the claim, in an answer, a push or a keep. */
  private void granted(Grant grant, Later later) {
    // a further attempt may be under way; it stays counted as unanswered, but nothing waits for it
    inFlight = false;
    Tenure fresh = new Tenure(this, grant);
    Moment now = engine.ticker.now();
    if (fresh.leftNanos(now) <= 0) {
      Trouble lateness = troubleWith(Failures.grantedTooLate());
      enter(Phase.HELD);
      finish(Duration.ZERO, later);
      lane.claimFailed(this, lateness, later);
      return;
    }
    trouble = null;
    boolean over = lane.holding.isNewerThan(grant.revision()) || engine.isClosed();
    Request request = lane.takerOf(this);
    enter(Phase.HELD);
    if (over || request == null) {
      finish(Duration.ZERO, later);
      lane.claimFailed(this, null, later);
      return;
    }
    tenure = fresh;
    lane.holding.begin(fresh, grant, later);
    EngineHold hold = fresh.give(request, now, false);
    fresh.schedule(now);
    only = null;
    lane.deliver(request, hold, false, later);
  }

  /** The store pushed a grant. */
  void pushed(Grant grant) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.ASKING || phase == Phase.WAITING) {
        granted(grant, later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /** The store says that the lock may be free. */
  void lookAgain() {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.WAITING && !retrying) {
        ask(later);
      } else if (phase == Phase.ASKING) {
        lookAgain = true;
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /**
   * Whether it still holds, or waits, as it did when its keep was decided. Read without the lock: it may end before the
   * keep is sent in any case, and a keep creates nothing.
   */
  boolean isToBeKept(@Nullable Tenure during) {
    return during == null ? phase == Phase.WAITING : phase == Phase.HELD && tenure == during;
  }

  /** A keep was sent and not answered at once: its time-out, and the end of the lease, are waited for. */
  void keepSent(@Nullable Tenure during) {
    lane.lock.lock();
    try {
      if (during != null && isToBeKept(during)) {
        during.schedule(engine.ticker.now());
      }
    } finally {
      lane.lock.unlock();
    }
  }

  /**
   * The answer of {@link io.holdfast.spi.LockStore#keep}.
   *
   * @param during the tenure that it was sent in; null while waiting
   * @param renewal its number in that tenure
   */
  void kept(Kept kept, @Nullable Throwable failure, @Nullable Tenure during, int renewal) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.HELD && tenure != null) {
        if (during == tenure) {
          tenure.renewalAnswered(renewal);
        }
        keptHeld(tenure, kept, during, later);
      } else if (phase == Phase.WAITING && during == null) {
        keptQueued(kept, failure, later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  private void keptHeld(Tenure held, Kept kept, @Nullable Tenure during, Later later) {
    if (kept instanceof Kept.Held answer && answer.grant().revision() == held.revision) {
      lane.holding.othersWait(answer.grant().othersWait());
      held.renewed(answer.grant(), later);
      lane.holding.passOnAfterRenewal(held, later);
    } else if (during == held && (kept instanceof Kept.Gone || kept instanceof Kept.Held)) {
      // another revision would mean that the store granted the claim anew: our grant is gone all the same
      lane.holding.lose(held, LossReason.GONE, later);
    } else if (during == held) {
      held.renewalFailed();
    }
  }

  private void keptQueued(Kept kept, @Nullable Throwable failure, Later later) {
    keepPending = false;
    if (kept instanceof Kept.Held answer) {
      granted(answer.grant(), later);
    } else if (kept instanceof Kept.Gone) {
      ask(later);
    } else if (kept instanceof Kept.Queued) {
      trouble = null;
      wakeAt(engine.ticker.nanos() + engine.refreshNanos());
    } else {
      failed(failure, later);
    }
  }

  /** The store says that a held claim is certainly gone, or that a waiting one has to start anew. */
  void lostInStore(LossReason reason) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.HELD && tenure != null) {
        lane.holding.lose(tenure, reason, later);
      } else if (phase == Phase.WAITING) {
        ask(later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /** The handle of a hold of this tenure was dropped. */
  void dropped(Tenure during) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.HELD && tenure == during && during.wasAbandoned()) {
        lane.holding.abandon(during, later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /** The connection is disturbed, or works again. */
  void connection(boolean works) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.HELD && tenure != null) {
        if (works) {
          tenure.restored(later);
        } else {
          tenure.disturbed(later);
        }
      } else if (phase == Phase.WAITING && works) {
        ask(later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  // ending

  /** Gives the claim up, whatever has become of it. */
  void finish(Duration keepFor, Later later) {
    finish(keepFor, engine.ticker.nanos(), later);
  }

  void finish(Duration keepFor, long now, Later later) {
    boolean nothingThere = phase == Phase.WAITING && leftNothing();
    enter(Phase.ENDING);
    tenure = null;
    if (nothingThere) {
      over(later);
    } else {
      ending().begin(keepFor, now, later);
    }
  }

  /**
   * Whether nothing of it can be in the store, nor in what the store's module keeps on this side: one that waits may be
   * queued there, or be looking again here, until it is ended.
   */
  boolean leftNothing() {
    return unanswered == 0 && tenure == null && !leftWaiter;
  }

  /** The client is closing: ends the claim; completes when the store has said something. */
  CompletableFuture<Boolean> close() {
    Later later = new Later();
    CompletableFuture<Boolean> first = Engine.YES;
    lane.lock.lock();
    try {
      if (phase != Phase.OVER) {
        Request waiting = only;
        if (waiting != null && waiting.outcome() == null) {
          lane.settle(waiting, new Outcome.Failed(Engine.closedException()), later);
        }
        if (tenure != null) {
          // granted since the lanes were told
          lane.holding.invalidate(later);
        }
        first = ending().first();
        if (phase == Phase.ENDING) {
          ending().begin(Duration.ZERO, engine.ticker.nanos(), later);
        } else {
          finish(Duration.ZERO, later);
        }
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
    return first;
  }

  /** A hold of this claim was lost. */
  void lost(Tenure held, LossReason reason, Moment now, Later later) {
    enter(Phase.ENDING);
    tenure = null;
    if (reason != LossReason.GONE && reason != LossReason.SESSION_ENDED) {
      Tenure.Span span = held.span;
      long ends = span.leaseNanos() + span.leaseNanos() / 100 + LAPSE_GRACE_NANOS;
      ending().lapse(ends - span.anchor().elapsedNanos(now.nanos(), now.wallMillis()));
    } else {
      // the store has said so about the past: an attempt that was answered since may have left something
      ending().begin(Duration.ZERO, now.nanos(), later);
    }
  }

  /** The client is closed and its timer gone: whoever still waits for a release is told that it was not confirmed. */
  void giveUpEnding() {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (ending != null) {
        ending.unconfirmed(later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  /** How the claim ends. */
  Ending ending() {
    Ending made = ending;
    if (made == null) {
      made = new Ending(this);
      ending = made;
    }
    return made;
  }

  /** Nothing of the claim is left. */
  void over(Later later) {
    enter(Phase.OVER);
    tenure = null;
    if (ending != null) {
      ending.over(later);
    }
    engine.timer.clear(this);
    onTimer = false;
    engine.forget(this);
    lane.over(this, later);
  }

  // time

  @Override
  void due() {
    Later later = new Later();
    lane.lock.lock();
    try {
      onTimer = false;
      if (engine.ticker.nanos() - wakeNanos < 0) {
        if (phase != Phase.OVER) {
          wakeAt(wakeNanos);
        }
      } else if (inFlight && (phase == Phase.ASKING || phase == Phase.ENDING)) {
        inFlight = false;
        if (phase == Phase.ENDING) {
          ending().attemptAnswered(null, later);
        } else {
          troubled(null, later);
        }
      } else if (phase == Phase.WAITING) {
        waitingDue(later);
      } else if (phase == Phase.HELD && tenure != null) {
        tenure.due(later);
      } else if (phase == Phase.ENDING) {
        ending().due(later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  private void waitingDue(Later later) {
    if (keepPending) {
      keepPending = false;
      failed(null, later);
    } else if (inStoreQueue && !retrying) {
      keepPending = true;
      askedNanos = engine.ticker.nanos();
      // the batched refresh is also how a grant is found whose message was lost
      engine.keeper.add(this, null, 0);
      later.add(engine.keeper.flush);
      wakeAt(engine.ticker.nanos() + engine.requestNanos(claim));
    } else {
      ask(later);
    }
  }

  /** Ignores wake-ups for what came before. */
  void expectWakeAt(long nanos) {
    wakeNanos = nanos;
  }

  /** Sets the timer; a wake-up before this time, for something that is over, is ignored. */
  void wakeAt(long nanos) {
    wakeNanos = nanos;
    if (onTimer && armedNanos == nanos) {
      return;
    }
    onTimer = true;
    armedNanos = nanos;
    engine.timer.set(this, nanos);
  }

  @Override
  void clockJumped() {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (phase == Phase.HELD && tenure != null) {
        tenure.due(later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }
}
