// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends claims of this client that the store has and the engine does not know any more. On stores where claims share a
 * session a forgotten one would live as long as the session. While the store is silent it is asked after pauses that
 * double, up to a minute.
 *
 * <p>A claim is known before its first attempt is sent and until its end is final. What the engine does not know when the
 * store is asked, and the store lists, is therefore forgotten. A claim that ends after the store was asked may be listed
 * too, and a release may have kept its lock: it is left alone, unless the next list has it.
 *
 * <p>A claim whose end was given up before it was confirmed is ended as it was to be: its lease has not ended in the store,
 * and a release that was to keep the lock keeps it.
 */
final class Reconciler extends Timed {
  private static final Holder NOBODY = new Holder("reconciler", "", 0, "", "");

  private static final long LONGEST_PAUSE_NANOS = 60_000_000_000L;

  private final Engine engine;

  /** Releases that were given up and are to keep their locks. */
  private final Map<ClaimId, GivenUp> givenUp = new ConcurrentHashMap<>();

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** Which round was begun last. */
  private int round;

  /** The latest round that was answered. */
  private int newest;

  /** The first round that sees all that was wanted: it begins after that. */
  private int needed;

  /** How long the next round waits for an answer before it is asked again. */
  private long pauseNanos;

  private boolean isSet;

  /** The claim that was made last when a round was wanted: what is looked for is no newer. */
  private long newestClaim;

  /** Claims that were listed and that the engine did not know any more when the list came. */
  private final Set<ClaimId> unknown = new HashSet<>();

  /**
   * A round.
   *
   * @param over the claims that may be in the store and of which nothing was left here when the store was asked
   */
  private record Round(int number, Set<ClaimId> over) {}

  /** A claim whose end the store did not confirm, and until how long after its grant that was to keep the lock. */
  private record GivenUp(Claim claim, Duration keepFor) {}

  Reconciler(Engine engine) {
    this.engine = engine;
  }

  /**
   * The end of a claim is given up. Called while the claim is still known, so that no round that is under way finds it
   * forgotten before it is noted how it was to end.
   */
  void givenUp(Claim claim, Duration keepFor) {
    if (!keepFor.isZero()) {
      givenUp.put(claim.id(), new GivenUp(claim, keepFor));
    }
  }

  /** The connection came back: runs once what was under way has been answered, and then until the store answers. */
  void soon() {
    lock.lock();
    try {
      startAnew();
    } finally {
      lock.unlock();
    }
  }

  /** A claim was given up: runs as {@link #soon}, but the pauses of a store that is silent go on growing. */
  void wanted() {
    lock.lock();
    try {
      if (isSet) {
        isWanted();
      } else {
        startAnew();
      }
    } finally {
      lock.unlock();
    }
  }

  private void startAnew() {
    pauseNanos = engine.requestTimeoutNanos();
    isWanted();
    set(pauseNanos);
  }

  private void isWanted() {
    needed = round + 1;
    newestClaim = engine.registry.lastClaim();
  }

  private void set(long inNanos) {
    isSet = true;
    engine.timer.set(this, engine.ticker.nanos() + inNanos);
  }

  /** Begins a round; it is asked again, ever more rarely, unless everything is answered by then. */
  private Round nextRound() {
    Set<ClaimId> over = new HashSet<>(givenUp.keySet());
    // one that is known until later may be passed over by this round, and is left to the next one
    over.removeIf(engine.registry::knows);
    lock.lock();
    try {
      set(engine.jitter(pauseNanos));
      pauseNanos = Math.min(2 * pauseNanos, Math.max(LONGEST_PAUSE_NANOS, pauseNanos));
      over.addAll(unknown);
      return new Round(++round, over);
    } finally {
      lock.unlock();
    }
  }

  @Override
  void due() {
    Round current = nextRound();
    engine
        .ask(engine.store::own)
        .thenCompose(own -> endForgotten(current, own))
        .whenComplete((done, failure) -> Guard.run(() -> answered(current, failure)));
  }

  private CompletionStage<?> endForgotten(Round listed, Map<ClaimId, LockKey> own) {
    List<CompletableFuture<?>> ends = new ArrayList<>();
    if (isOvertaken(listed.number)) {
      // a later round has ended what there is, and what was noted for that is gone
      return CompletableFuture.completedFuture(ends);
    }
    List<ClaimId> unsure = new ArrayList<>();
    own.forEach((id, key) -> {
      if (listed.over.contains(id)) {
        Log.log(Level.WARNING, "lock={0} claim={1}: forgotten claim ended", key, id);
        GivenUp terms = terms(id, key);
        ends.add(engine.end(terms.claim, terms.keepFor, engine.store.time()).toCompletableFuture());
      } else if (!engine.registry.knows(id)) {
        unsure.add(id);
      }
    });
    lookAgain(unsure);
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }

  /** Wants another round for these, but for claims that were made after the last want: busy clients always have some. */
  private void lookAgain(List<ClaimId> unsure) {
    lock.lock();
    try {
      unsure.removeIf(id -> id.number() > newestClaim);
      if (isSet && unknown.addAll(unsure)) {
        needed = round + 1;
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isOvertaken(int listed) {
    lock.lock();
    try {
      return listed - newest < 0;
    } finally {
      lock.unlock();
    }
  }

  private GivenUp terms(ClaimId id, LockKey key) {
    GivenUp known = givenUp.get(id);
    return known != null
        ? known
        : new GivenUp(
            new Claim(id, key, 1, 1, Duration.ofSeconds(1), false, NOBODY), Duration.ZERO);
  }

  private void answered(Round answered, @Nullable Throwable failure) {
    if (failure != null) {
      Log.thrown(Level.DEBUG, "this client's claims were not reconciled; tried again", failure);
      return;
    }
    lock.lock();
    try {
      newest = Math.max(newest, answered.number);
      unknown.removeAll(answered.over);
      if (answered.number - needed >= 0) {
        // maybe not to the latest round: a store that takes its time answers in the end
        isSet = false;
        engine.timer.clear(this);
      } else if (isSet) {
        // the store answers again: what is wanted since does not have to wait long
        pauseNanos = engine.requestTimeoutNanos();
        set(pauseNanos);
      }
    } finally {
      lock.unlock();
    }
    answered.over.forEach(givenUp::remove);
  }
}
