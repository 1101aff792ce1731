// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreTraits;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Ends a claim, and repeats that until it is final: the store confirmed it and no copy of an earlier attempt can be
 * applied any more, or every lease that it may have granted has ended. Guarded by the lane's lock.
 *
 * <p>Whoever released waits for {@link #first}: the first thing that the store says, or the end of the request's time.
 */
final class Ending {
  private static final long PAUSE_NANOS = 10_000_000L;
  private static final long FINAL_GRACE_NANOS = 1_000_000_000L;

  private final Claimant claimant;

  /** What the releasing caller hears: whether the hold was still ours. Null until somebody wants to know. */
  private @Nullable CompletableFuture<Boolean> first;

  private Duration keepFor = Duration.ZERO;
  private boolean begun;
  private boolean waitsForAttempt;
  private boolean lapses;
  private boolean firstDone;
  private int sent;
  private int number;
  private boolean inFlight;
  private int failures;
  private int repeats;
  private long failFirstNanos;
  private long hopelessNanos;

  Ending(Claimant claimant) {
    this.claimant = claimant;
  }

  /** Returns the future of the first answer; under the lane's lock, before {@link #begin}. */
  CompletableFuture<Boolean> first() {
    CompletableFuture<Boolean> future = first;
    if (future == null) {
      future = firstDone ? Engine.NO : new CompletableFuture<>();
      first = future;
    }
    return future;
  }

  /** The claim is over, by whatever way: nobody waits any longer. */
  void over(Later later) {
    finishFirst(false, null, later);
  }

  /** Whether the first answer is still awaited. */
  boolean awaitsFirst() {
    return begun && !lapses && !firstDone;
  }

  /** Starts to end the claim. If an attempt is under way, its answer is awaited first, so that one end is enough. */
  void begin(Duration keep, long now, Later later) {
    if (begun && !lapses) {
      return;
    }
    Engine engine = claimant.lane.engine;
    begun = true;
    lapses = false;
    keepFor = keep;
    failFirstNanos = now + engine.requestNanos(claimant.claim);
    long leases = leasesNanos();
    hopelessNanos = failFirstNanos + leases + leases / 100 + FINAL_GRACE_NANOS;
    if (claimant.attempts.inFlight()) {
      waitsForAttempt = true;
    } else {
      send(now, later);
    }
  }

  /** For how long the claim may be in the store if nothing more is asked for it. */
  private long leasesNanos() {
    StoreTraits traits = claimant.lane.engine.traits;
    long lease = claimant.claim.lease().toNanos();
    boolean isHandedOver = traits.queues() || claimant.claim.fair();
    if (!isHandedOver || !claimant.attempts.mayHaveLeftAWaiter()) {
      return lease;
    }
    // a waiter may be handed the lock when its place in the queue has almost run out, for at most as long again
    long waiting = traits.waiterLease().toNanos();
    return Math.max(lease, waiting + Math.min(waiting, lease));
  }

  /**
   * Lets a lost claim lapse: the holder may not have noticed yet, so the store is told only when the lease must have
   * ended there too, or when the holder releases.
   */
  void lapse(long afterNanos) {
    begun = true;
    lapses = true;
    claimant.wakeAt(claimant.lane.engine.ticker.nanos() + Math.max(0, afterNanos));
  }

  /** The attempt that was under way when the end began was answered; null: it was given up or failed. */
  void attemptAnswered(@Nullable Answer answer, Later later) {
    if (!waitsForAttempt) {
      return;
    }
    waitsForAttempt = false;
    boolean nothingThere = claimant.leftNothing()
        && (answer == null
            || answer instanceof Answer.Late
            || (answer instanceof Answer.Busy busy && !busy.queued() && claimant.mode == Mode.TRY));
    if (nothingThere) {
      finishFirst(false, null, later);
      claimant.over(later);
    } else {
      send(claimant.lane.engine.ticker.nanos(), later);
    }
  }

  /** Nobody will ask the store again. */
  void unconfirmed(Later later) {
    finishFirst(
        false,
        Failures.unavailable(null, claimant.name(), claimant.lane.engine.store.describe()),
        later);
  }

  void due(Later later) {
    if (lapses) {
      begin(Duration.ZERO, claimant.lane.engine.ticker.nanos(), later);
    } else if (inFlight) {
      inFlight = false;
      failed(null, later);
    } else if (!waitsForAttempt) {
      send(claimant.lane.engine.ticker.nanos(), later);
    }
  }

  private void send(long now, Later later) {
    inFlight = true;
    sent++;
    int current = ++number;
    // what is answered only while the end is under way may be applied behind it
    boolean certain = !claimant.attempts.anyUnanswered();
    // a wake-up for what came before must not be taken for this request's time-out
    claimant.expectWakeAt(now + claimant.lane.engine.requestNanos(claimant.claim));
    later.add(() -> request(current, certain));
  }

  private void request(int current, boolean certain) {
    Engine engine = claimant.lane.engine;
    CompletionStage<Ended> stage = Patience.send(
        claimant, true, () -> engine.end(claimant.claim, keepFor, claimant.attempts.lastGiveUp()));
    if (stage.getClass() == CompletableFuture.class
        && stage instanceof CompletableFuture<Ended> future
        && future.isDone()
        && !future.isCompletedExceptionally()) {
      answered(current, certain, future.join(), null);
      return;
    }
    stage.whenComplete(
        (ended, failure) -> Guard.run(() -> answered(current, certain, ended, failure)));
    claimant.lane.lock.lock();
    try {
      if (inFlight && number == current) {
        claimant.wakeAt(engine.ticker.nanos() + engine.requestNanos(claimant.claim));
      }
    } finally {
      claimant.lane.lock.unlock();
    }
  }

  private void answered(
      int current, boolean certain, @Nullable Ended ended, @Nullable Throwable failure) {
    Later later = new Later();
    claimant.lane.lock.lock();
    try {
      if (claimant.phase() != Claimant.Phase.ENDING) {
        return;
      }
      boolean newest = inFlight && current == number;
      if (ended != null) {
        inFlight = false;
        confirmed(ended, certain, later);
      } else if (newest) {
        inFlight = false;
        failed(failure, later);
      }
    } finally {
      claimant.lane.lock.unlock();
    }
    later.run();
  }

  private void confirmed(Ended ended, boolean certain, Later later) {
    // an earlier, unanswered end of a hold that was valid then is the likely reason for "not there"
    boolean wasOurs = ended.outcome() == Ended.Outcome.RELEASED || sent > 1;
    if (claimant.lane.holding.isEmpty()) {
      // what is held since began later than this was true
      claimant.lane.holding.othersWait(ended.othersWait());
    }
    finishFirst(wasOurs, null, later);
    if (certain || ended.isFinal()) {
      claimant.over(later);
    } else if (!claimant.attempts.anyUnanswered()) {
      send(claimant.lane.engine.ticker.nanos(), later);
    } else {
      // not shortened: an end that comes before the last attempt must be given up is not final, and asked in vain
      long pause = claimant.lane.engine.jitter(PAUSE_NANOS << Math.min(repeats++, 6));
      againOrNever(Math.max(nanosToGiveUp(), pause), later);
    }
  }

  /** Asks the store again after a pause, unless every lease that it may have granted has ended by now. */
  private void againOrNever(long pauseNanos, Later later) {
    Engine engine = claimant.lane.engine;
    long now = engine.ticker.nanos();
    if (now - hopelessNanos < 0) {
      claimant.wakeAt(now + pauseNanos);
      return;
    }
    Log.log(
        Level.WARNING,
        "lock={0} claim={1}: the store did not confirm its end; this client looks for it, and ends it if it is still there",
        claimant.name(),
        claimant.claim.id());
    engine.reconciler.givenUp(claimant.claim, keepFor);
    claimant.over(later);
    // the store may still have it, in a session that claims share or since its clock went back: the reconciler looks
    engine.reconciler.wanted();
  }

  private long nanosToGiveUp() {
    long most = claimant.lane.engine.requestNanos(claimant.claim);
    Instant now;
    try {
      now = claimant.lane.engine.store.time();
    } catch (RuntimeException | Error e) {
      Log.thrown(Level.WARNING, "the store's module does not tell the time", e);
      return most;
    }
    Duration left = Duration.between(now, claimant.attempts.lastGiveUp());
    return Math.max(0, Math.min(most, left.toNanos() + 1_000_000L));
  }

  private void failed(@Nullable Throwable failure, Later later) {
    Engine engine = claimant.lane.engine;
    long now = engine.ticker.nanos();
    if (now - failFirstNanos >= 0 || failure == null) {
      finishFirst(
          false, Failures.unavailable(failure, claimant.name(), engine.store.describe()), later);
    }
    againOrNever(engine.jitter((2 * PAUSE_NANOS) << Math.min(failures++, 5)), later);
  }

  /** Tells the releasing caller, and lets the lane ask for the next holder. */
  private void finishFirst(boolean wasOurs, @Nullable RuntimeException failure, Later later) {
    if (firstDone) {
      return;
    }
    firstDone = true;
    CompletableFuture<Boolean> future = first;
    if (future != null) {
      later.add(() -> {
        if (failure == null) {
          future.complete(wasOurs);
        } else {
          future.completeExceptionally(failure);
        }
      });
    }
    claimant.lane.restraint().firstEndDone(claimant, later);
  }
}
