// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Takes one claim through the store, from the first attempt to its confirmed end.
 *
 * <pre>
 *   ASKING  an attempt is under way ({@link Attempts})          -> HELD, WAITING, ENDING, OVER
 *   WAITING busy, or a pause before a retry ({@link ClaimWait}) -> ASKING, HELD (pushed), ENDING, OVER
 *   HELD    granted ({@link Tenure})                            -> ENDING, OVER
 *   ENDING  released, withdrawn or lost ({@link Ending} repeats until that is certain) -> OVER
 *   OVER    nothing of it is left, and nothing can come
 * </pre>
 *
 * <p>This class has the phase, and says to whom answers, events and wake-ups go in each; what is done there is in the
 * classes named above.
 *
 * <p>All fields are guarded by the lane's lock. Methods that take a {@link Later} are called under it.
 */
final class Claimant extends Alarm {
  enum Phase {
    ASKING,
    WAITING,
    HELD,
    ENDING,
    OVER
  }

  private static final long LAPSE_GRACE_NANOS = 10_000_000L;

  final Lane lane;
  final Claim claim;
  final Mode mode;
  final LockOptions options;
  final Attempts attempts;

  /**
   * The one request it works for; null if it works for the lane's queue, and once it was granted: what is kept here would
   * keep the hold's handle from being noticed as dropped.
   */
  @Nullable
  Request only;

  private Phase phase = Phase.ASKING;
  private long askedNanos;
  private @Nullable Tenure tenure;
  private @Nullable Ending ending;

  /** Null before it has waited, and once it was granted. */
  private @Nullable ClaimWait waiting;

  Claimant(Lane lane, Claim claim, Mode mode, LockOptions options, @Nullable Request only) {
    this.lane = lane;
    this.claim = claim;
    this.mode = mode;
    this.options = options;
    this.only = only;
    this.attempts = new Attempts(this);
  }

  @Override
  Engine engine() {
    return lane.engine;
  }

  /** When the newest attempt, or refresh, was made. */
  long askedNanos() {
    return askedNanos;
  }

  void refreshing(long now) {
    askedNanos = now;
  }

  /** How it waits. */
  ClaimWait waiting() {
    ClaimWait made = waiting;
    if (made == null) {
      made = new ClaimWait(this);
      waiting = made;
    }
    return made;
  }

  String name() {
    return lane.key.name();
  }

  Phase phase() {
    return phase;
  }

  boolean isWaiting() {
    return phase == Phase.WAITING;
  }

  /** Whether it may still be granted. */
  boolean isOpen() {
    return phase == Phase.ASKING || phase == Phase.WAITING;
  }

  private boolean isHeldIn(@Nullable Tenure during) {
    return phase == Phase.HELD && tenure == during;
  }

  void enter(Phase next) {
    EngineTrace trace = lane.engine.trace;
    if (trace != null && next != phase) {
      trace.claimMoved(claim.id(), phase.name(), next.name());
    }
    phase = next;
  }

  // asking

  /** Sends an attempt, once the lock is free. */
  void ask(Later later) {
    long now = lane.engine.ticker.nanos();
    asking(now);
    attempts.send(now, later);
  }

  private void asking(long now) {
    enter(Phase.ASKING);
    askedNanos = now;
    if (waiting != null) {
      waiting.asking();
    }
  }

  /** The first contact was made, for which an attempt has waited; says whether that is still to be sent. */
  boolean contacted(long now, Later later) {
    if (phase == Phase.ASKING) {
      asking(now);
      return true;
    }
    if (phase == Phase.ENDING) {
      ending().attemptAnswered(null, later);
    }
    return false;
  }

  /**
   * An attempt was answered, or failed.
   *
   * @param number its number among the claim's requests
   * @param newest whether it is the newest one, and was not given up
   */
  void attemptAnswered(
      @Nullable Answer answer,
      @Nullable Throwable failure,
      int number,
      boolean newest,
      Later later) {
    if (answer instanceof Answer.Busy) {
      denied(number, later);
    }
    if (phase == Phase.ENDING) {
      if (newest) {
        ending().attemptAnswered(answer, later);
      }
    } else if (isOpen()) {
      if (answer instanceof Answer.Granted granted) {
        // also the late answer of an attempt that was given up: the claim is the same
        grantAnswered(number, granted.grant(), later);
      } else if (newest) {
        waiting().notGranted(answer, failure, later);
      }
    }
  }

  // granted

  /** A request's answer was that the claim is granted. */
  void grantAnswered(int number, Grant grant, Later later) {
    if (attempts.isOutdated(number)) {
      waiting().lookAgain(later);
    } else {
      attempts.granted(number);
      boolean askedSince = attempts.isNewest(number) && lane.holding.isSinceTheNewest(askedNanos);
      granted(grant, askedSince, later);
    }
  }

  /**
   * A request's answer was that the claim is not granted. If an earlier one's was believed that it is, a renewal will tell; of a
   * lease that is not renewed, its end.
   */
  private void denied(int number, Later later) {
    attempts.denied(number);
    if (phase == Phase.HELD && tenure != null && attempts.isGrantInDoubt()) {
      tenure.doubted(later);
    }
  }

  /**
   * The store granted the claim, in an answer, a push or a keep.
   *
   * @param askedSince whether that was certainly asked for when the newest grant of this process had been told
   */
  private void granted(Grant grant, boolean askedSince, Later later) {
    // a further attempt may be under way; it stays counted as unanswered, but nothing waits for it
    attempts.giveUp();
    Moment now = lane.engine.ticker.now();
    Tenure fresh = new Tenure(this, grant, now);
    if (fresh.leftNanos(now) <= 0) {
      refuseGrant(waiting().add(Failures.grantedTooLate()), later);
      return;
    }
    boolean waitedForOthers = waiting != null && waiting.waitedForOthers();
    waiting = null;
    boolean over =
        lane.holding.isNewerThan(claim.id(), grant, askedSince) || lane.engine.isClosed();
    Request request = lane.claims.takerOf(this);
    if (over || request == null) {
      refuseGrant(null, later);
      return;
    }
    enter(Phase.HELD);
    tenure = fresh;
    lane.holding.begin(fresh, grant, waitedForOthers, later);
    EngineHold hold = fresh.give(request, now, false);
    fresh.schedule(now);
    only = null;
    lane.deliver(request, hold, false, later);
  }

  private void refuseGrant(@Nullable Trouble lateness, Later later) {
    enter(Phase.HELD);
    finish(Duration.ZERO, later);
    lane.claims.failed(this, lateness, later);
  }

  /** The store pushed a grant. */
  void pushed(Grant grant) {
    lane.step(later -> {
      if (isOpen()) {
        attempts.pushed();
        granted(grant, false, later);
      }
    });
  }

  /** The store says that the lock may be free. */
  void lookAgain() {
    lane.step(later -> {
      if (isOpen()) {
        waiting().lookAgain(later);
      }
    });
  }

  /**
   * Whether it still holds, or waits, as it did when its keep was decided. Read without the lock: it may end before the
   * keep is sent in any case, and a keep creates nothing.
   */
  boolean isToBeKept(@Nullable Tenure during) {
    return during == null ? isWaiting() : isHeldIn(during);
  }

  /** A keep was sent and not answered at once: its time-out, and the end of the lease, are waited for. */
  void keepSent(@Nullable Tenure during) {
    lane.lock.lock();
    try {
      if (during != null && isHeldIn(during)) {
        during.schedule(lane.engine.ticker.now());
      }
    } finally {
      lane.lock.unlock();
    }
  }

  /**
   * The answer of {@link io.holdfast.spi.LockStore#keep}.
   *
   * @param during the tenure that it was sent in; null while waiting
   * @param number its number in that tenure; while waiting, its number among the claim's requests
   */
  void kept(Kept kept, @Nullable Throwable failure, @Nullable Tenure during, int number) {
    Later later = new Later();
    lane.lock.lock();
    try {
      if (during == null && (kept instanceof Kept.Gone || kept instanceof Kept.Queued)) {
        denied(number, later);
      }
      if (phase == Phase.HELD && tenure != null) {
        if (during == tenure) {
          tenure.renewalAnswered(number);
        }
        keptHeld(tenure, kept, during, number, later);
      } else if (isWaiting() && during == null) {
        waiting().kept(kept, failure, number, later);
      }
    } finally {
      lane.lock.unlock();
    }
    later.run();
  }

  private void keptHeld(Tenure held, Kept kept, @Nullable Tenure during, int number, Later later) {
    if (kept instanceof Kept.Held answer && answer.grant().revision() == held.revision) {
      if (during == held && held.settles(number)) {
        attempts.confirmed();
      }
      lane.holding.othersWait(answer.grant().othersWait());
      held.renewed(answer.grant(), later);
      if (!attempts.isGrantInDoubt()) {
        lane.holding.relay().passOnAfterRenewal(held, later);
      } else if (during == held) {
        held.renewNow(later);
      }
    } else if (during == held && (kept instanceof Kept.Gone || kept instanceof Kept.Held)) {
      // another revision would mean that the store granted the claim anew: our grant is gone all the same
      lane.holding.lose(held, LossReason.GONE, later);
    } else if (during == held && kept instanceof Kept.Queued) {
      // a later attempt has queued the claim anew, in place of the grant; believed if a renewal that was sent since says so too
      if (!attempts.isGrantInDoubt()) {
        attempts.doubted();
        held.doubted(later);
      } else if (held.settles(number)) {
        lane.holding.lose(held, LossReason.GONE, later);
      } else {
        held.renewNow(later);
      }
    } else if (during == held) {
      held.renewalFailed();
    }
  }

  /** The store says that a held claim is certainly gone, or that a waiting one has to start anew. */
  void lostInStore(LossReason reason) {
    lane.step(later -> {
      if (phase == Phase.HELD && tenure != null) {
        lane.holding.lose(tenure, reason, later);
      } else if (isWaiting()) {
        ask(later);
      }
    });
  }

  /** The handle of a hold of this tenure was dropped. */
  void dropped(Tenure during) {
    lane.step(later -> {
      if (isHeldIn(during) && during.wasAbandoned()) {
        lane.holding.abandon(during, later);
      }
    });
  }

  /** The connection is disturbed, or works again. */
  void connection(boolean works) {
    lane.step(later -> {
      if (phase == Phase.HELD && tenure != null) {
        if (works) {
          tenure.renewNow(later);
        } else {
          tenure.disturbed(later);
        }
      } else if (isWaiting() && works) {
        ask(later);
      }
    });
  }

  // ending

  /** Gives the claim up, whatever has become of it. */
  void finish(Duration keepFor, Later later) {
    finish(keepFor, lane.engine.ticker.nanos(), later);
  }

  void finish(Duration keepFor, long now, Later later) {
    boolean nothingThere = isWaiting() && leftNothing();
    enter(Phase.ENDING);
    tenure = null;
    if (nothingThere) {
      over(later);
    } else {
      ending().begin(keepFor, now, later);
    }
  }

  /** Whether nothing of it can be in the store. */
  boolean leftNothing() {
    return tenure == null && attempts.leftNothing();
  }

  /** The client is closing: ends the claim; completes when the store has said something. */
  CompletableFuture<Boolean> close() {
    Later later = new Later();
    CompletableFuture<Boolean> first = Engine.YES;
    lane.lock.lock();
    try {
      if (phase != Phase.OVER) {
        Request unsettled = only;
        if (unsettled != null && unsettled.outcome() == null) {
          lane.settle(unsettled, new Outcome.Failed(Engine.closedException()), later);
        }
        if (tenure != null) {
          // granted since the lanes were told
          lane.holding.invalidate(later);
        }
        first = ending().first();
        if (phase == Phase.ENDING) {
          ending().begin(Duration.ZERO, lane.engine.ticker.nanos(), later);
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
      long ends = held.leaseNanos() + held.leaseNanos() / 100 + LAPSE_GRACE_NANOS;
      ending().lapse(ends - held.sinceAnchor(now));
    } else {
      // the store has said so about the past: an attempt that was answered since may have left something
      ending().begin(Duration.ZERO, now.nanos(), later);
    }
  }

  /** The client is closed and its timer gone: whoever still waits for a release is told that it was not confirmed. */
  void giveUpEnding() {
    lane.step(later -> {
      if (ending != null) {
        ending.unconfirmed(later);
      }
    });
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
    clearAlarm();
    lane.engine.registry.forget(this);
    lane.claims.over(this, later);
  }

  // time

  @Override
  void due() {
    lane.step(later -> {
      if (phase != Phase.OVER && isDue()) {
        due(later);
      }
    });
  }

  private void due(Later later) {
    if (attempts.inFlight() && (phase == Phase.ASKING || phase == Phase.ENDING)) {
      attempts.giveUp();
      if (phase == Phase.ENDING) {
        ending().attemptAnswered(null, later);
      } else {
        waiting().troubled(null, later);
      }
    } else if (isWaiting()) {
      waiting().due(later);
    } else if (phase == Phase.HELD && tenure != null) {
      tenure.due(later);
    } else if (phase == Phase.ENDING) {
      ending().due(later);
    }
  }

  @Override
  void clockJumped() {
    lane.step(later -> {
      if (phase == Phase.HELD && tenure != null) {
        tenure.clockJumped(later);
      }
    });
  }
}
