// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Mode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one claim: sends them, gives them up after their time, and counts what may have become of them.
 *
 * <p>An attempt that was not answered may have been applied, and until its {@code giveUpAt} may still be. {@link
 * #unanswered} counts those, from when they are sent: one that waits for the first contact is not in the store. Only when
 * it is zero, or the store's clock is past the last {@code giveUpAt}, is an end final. A late answer is heard all the same: it settles what was unknown.
 *
 * <p>Guarded by the lane's lock. Methods that take a {@link Later} are called under it.
 */
final class Attempts {
  private static final long NEVER = Long.MIN_VALUE;

  private final Claimant claimant;

  /** The last {@code giveUpAt} that was sent, since the epoch: no object, for it is kept as long as the hold. */
  private long lastGiveUpNanos = NEVER;

  /** Attempts that may have been applied without our knowing. */
  private int unanswered;

  /** Whether any of them, however late its answer came, left something that waits. */
  private boolean leftWaiter;

  /** Whether any of them, however late its answer came, was granted. */
  private boolean wasGranted;

  /** The number of the claim's newest request: refreshes are counted with them. */
  private int sent;

  /** The newest of the requests whose answer was that the claim is not granted. */
  private int denied;

  /** The request whose answer was believed that it is. */
  private int granted;

  /** Whether a renewal's answer speaks against the grant. */
  private boolean doubted;

  /** Whether the newest attempt is neither answered nor given up. */
  private boolean inFlight;

  private @Nullable Long contactedNanos;

  Attempts(Claimant claimant) {
    this.claimant = claimant;
  }

  Instant lastGiveUp() {
    return lastGiveUpNanos == NEVER ? Instant.MIN : Instant.EPOCH.plusNanos(lastGiveUpNanos);
  }

  boolean anyUnanswered() {
    return unanswered > 0;
  }

  boolean inFlight() {
    return inFlight;
  }

  /** Nothing waits for the newest attempt any more, though its answer is heard if it comes. */
  void giveUp() {
    inFlight = false;
  }

  /**
   * Whether nothing of them can be in the store, nor in what the store's module keeps on this side: one that was granted
   * holds the lock until it is ended; one that waits may be queued there, or be looking again here.
   */
  boolean leftNothing() {
    return unanswered == 0 && !leftWaiter && !wasGranted;
  }

  /** Whether one of them may stand in the queue there, or come to stand in it. */
  boolean mayHaveLeftAWaiter() {
    return leftWaiter || (unanswered > 0 && claimant.mode == Mode.QUEUE);
  }

  /** When the time of a try began: with the call, or when the contact that it waited for was made, see {@link #tryBegins}. */
  long triesSince(Request request) {
    return contactedNanos == null ? request.startNanos : contactedNanos;
  }

  /** Counts a refresh that is about to be sent, and returns its number. */
  int refresh() {
    return ++sent;
  }

  /** The answer to a request was that the claim is not granted. */
  void denied(int number) {
    denied = Math.max(denied, number);
  }

  /** The answer to a request was that the claim is granted, and was believed. */
  void granted(int number) {
    granted = number;
  }

  /**
   * The store granted the claim by a message. What was answered before says nothing of that; the answer to the newest request may,
   * if that is an attempt that is under way or was given up.
   */
  void pushed() {
    granted = unanswered > 0 ? Math.max(denied, sent - 1) : sent;
  }

  /** A renewal's answer was that the claim is queued. */
  void doubted() {
    doubted = true;
  }

  /** Whether a renewal, or a request that was sent later than the one that was granted, had another answer. */
  boolean isGrantInDoubt() {
    return doubted || denied > granted;
  }

  /** A renewal that was sent since has confirmed the grant. */
  void confirmed() {
    granted = Math.max(granted, denied);
    doubted = false;
  }

  boolean isNewest(int number) {
    return number == sent;
  }

  /**
   * Whether the answer "granted" to a request is outdated: a later request was answered that the claim is not granted. An operator
   * may have ended the grant in between, and another process may hold the lock.
   */
  boolean isOutdated(int number) {
    return number < denied;
  }

  /** Sends the next one, once the lock is free. */
  void send(long now, Later later) {
    send(now, false, later);
  }

  private void send(long now, boolean contacted, Later later) {
    inFlight = true;
    int number = ++sent;
    long timeout = timeout(now);
    // a wake-up for what came before must not be taken for this attempt's time-out
    claimant.expectWakeAt(now + timeout);
    Instant giveUp;
    try {
      giveUp = claimant.lane.engine.store.time().plusNanos(timeout);
      lastGiveUpNanos = Math.max(lastGiveUpNanos, ChronoUnit.NANOS.between(Instant.EPOCH, giveUp));
    } catch (RuntimeException | Error e) {
      // as if its verb had thrown, but certainly not applied
      later.add(() -> notSent(number, Failures.notAsked(e)));
      return;
    }
    if (contacted || claimant.lane.engine.isConnected()) {
      unanswered++;
      later.add(() -> request(number, giveUp, timeout));
    } else {
      // The contact has a time-out of its own; the attempt's begins after it, however short that is.
      later.add(() -> claimant
          .lane
          .engine
          .contact()
          .whenComplete((ready, failure) -> Guard.run(() -> contacted(number, failure))));
    }
  }

  /** A try has one time-out for all its attempts. */
  private long timeout(long now) {
    long timeout = claimant.lane.engine.requestNanos(claimant.claim);
    Request only = claimant.only;
    if (only == null || !only.onlyTry) {
      return timeout;
    }
    return Math.max(1, Math.min(timeout, triesSince(only) + timeout - now));
  }

  /** The first contact with the store was made, or failed: now the attempt can be sent, or has failed. */
  private void contacted(int number, @Nullable Throwable failure) {
    if (failure != null) {
      notSent(number, failure);
      return;
    }
    claimant.lane.step(later -> {
      if (inFlight && number == sent) {
        inFlight = false;
        long now = claimant.lane.engine.ticker.nanos();
        contactedNanos = tryBegins(now);
        if (claimant.contacted(now, later)) {
          send(now, true, later);
        }
      }
    });
  }

  /**
   * A contact may take the time of one request, and a try's time begins again after it. If a try needs a second contact,
   * both together may take no longer than that.
   */
  private long tryBegins(long now) {
    Request only = claimant.only;
    return only == null || sent == 1
        ? now
        : Math.min(now, only.startNanos + claimant.lane.engine.requestTimeoutNanos());
  }

  private void request(int number, Instant giveUp, long timeoutNanos) {
    CompletionStage<Answer> stage = Patience.send(
        claimant, false, () -> claimant.lane.engine.attempt(claimant.claim, claimant.mode, giveUp));
    // not a subclass: the minimal stages that failedStage() makes are futures, and refuse to be asked
    if (stage.getClass() == CompletableFuture.class
        && stage instanceof CompletableFuture<Answer> future
        && future.isDone()
        && !future.isCompletedExceptionally()) {
      if (!Patience.mayHaveBlocked()) {
        claimant.lane.engine.answersAtOnce(true);
      }
      answered(number, future.join(), null);
      return;
    }
    claimant.lane.engine.answersAtOnce(false);
    stage.whenComplete((answer, failure) -> Guard.run(() -> answered(number, answer, failure)));
    claimant.lane.lock.lock();
    try {
      if (inFlight && sent == number) {
        claimant.wakeAt(claimant.lane.engine.ticker.nanos() + timeoutNanos);
      }
    } finally {
      claimant.lane.lock.unlock();
    }
  }

  /** An attempt failed before it was sent: it was not counted as unanswered. */
  private void notSent(int number, Throwable failure) {
    claimant.lane.step(
        later -> claimant.attemptAnswered(null, failure, number, ends(number), later));
  }

  /** Whether it is the newest one, and was not given up; it is no longer under way then. */
  private boolean ends(int number) {
    boolean newest = inFlight && number == sent;
    if (newest) {
      inFlight = false;
    }
    return newest;
  }

  private void answered(int number, @Nullable Answer answer, @Nullable Throwable failure) {
    Later later = new Later();
    claimant.lane.lock.lock();
    try {
      boolean newest = ends(number);
      if (answer != null || Failures.notApplied(failure)) {
        unanswered--;
      }
      // also if it was given up meanwhile, and whatever a later attempt is answered
      leftWaiter |= claimant.mode == Mode.QUEUE && answer instanceof Answer.Busy;
      wasGranted |= answer instanceof Answer.Granted;
      claimant.attemptAnswered(answer, failure, number, newest, later);
    } finally {
      claimant.lane.lock.unlock();
    }
    later.run();
  }
}
