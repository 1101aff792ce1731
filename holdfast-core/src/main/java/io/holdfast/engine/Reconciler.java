// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends claims of this client that the store has and the engine does not know any more. On stores where claims share a
 * session a forgotten one would live as long as the session. While the store is silent it is asked after pauses that
 * double, up to a minute.
 *
 * <p>A claim is known before its first attempt is sent and until its end is final. What the engine does not know when the
 * store is asked, and the store lists, is therefore forgotten. A claim that ends after the store was asked may be listed
 * too, and a release may have kept its lock: it is left alone, unless a list has it that is asked for after that.
 *
 * <p>A claim whose end was given up before it was confirmed is ended as it was to be: its lease has not ended in the store,
 * and a release that was to keep the lock keeps it.
 */
final class Reconciler extends Timed {
  private static final Holder NOBODY = new Holder("reconciler", "", 0, "", "");

  private static final long LONGEST_PAUSE_NANOS = 60_000_000_000L;

  private final Engine engine;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** Which round was begun last. */
  private int round;

  /** The latest round whose list has come. */
  private int newest;

  /** The first round that sees all that was wanted: it begins after that. */
  private int needed;

  /** How long the next round waits for an answer before it is asked again. */
  private long pauseNanos;

  private boolean isSet;

  /** The claim that was made last when a round was wanted: what is looked for is no newer. */
  private long newestClaim;

  /**
   * Claims of which nothing is left here and that the store may have: those that were listed, and releases that were given
   * up and are to keep their locks.
   */
  private final Map<ClaimId, Forgotten> forgotten = new HashMap<>();

  /**
   * How a claim is to be ended if the store has it.
   *
   * @param keepFor until how long after its grant that keeps the lock
   * @param from the first round whose list counts: it was asked for when nothing more was asked for the claim
   */
  private record Forgotten(Claim claim, Duration keepFor, int from) {}

  Reconciler(Engine engine) {
    this.engine = engine;
  }

  /** The connection came back: runs once what was under way has been answered, and then until the store answers. */
  void soon() {
    lock.lock();
    try {
      want();
      setSoon();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The end of a claim is given up. Called while the claim is still known, so that no list finds it forgotten before it is
   * noted how it was to end.
   */
  void givenUp(Claim claim, Duration keepFor) {
    if (keepFor.isZero()) {
      return;
    }
    lock.lock();
    try {
      forgotten.put(claim.id(), new Forgotten(claim, keepFor, round + 1));
    } finally {
      lock.unlock();
    }
  }

  /** A claim was given up: runs as {@link #soon}, but the pauses of a store that is silent go on growing. */
  void wanted() {
    lock.lock();
    try {
      want();
      if (!isSet) {
        setSoon();
      }
    } finally {
      lock.unlock();
    }
  }

  private void want() {
    needed = round + 1;
    newestClaim = engine.registry.lastClaim();
  }

  /** The next round begins after the shortest pause, and the pauses grow from there. */
  private void setSoon() {
    pauseNanos = engine.requestTimeoutNanos();
    set(pauseNanos);
  }

  private void set(long inNanos) {
    isSet = true;
    engine.timer.set(this, engine.ticker.nanos() + inNanos);
  }

  /** Begins a round; it is asked again, ever more rarely, unless everything is answered by then. */
  private int nextRound() {
    lock.lock();
    try {
      set(engine.jitter(pauseNanos));
      pauseNanos = Math.min(2 * pauseNanos, Math.max(LONGEST_PAUSE_NANOS, pauseNanos));
      return ++round;
    } finally {
      lock.unlock();
    }
  }

  @Override
  void due() {
    int current = nextRound();
    engine
        .ask(engine.store::own)
        .thenCompose(own -> endForgotten(current, own))
        .whenComplete((counts, failure) -> Guard.run(() -> answered(current, counts, failure)));
  }

  /** Completes with false if a later round's list has come before: it has told what there is. */
  private CompletionStage<Boolean> endForgotten(int listed, Map<ClaimId, LockKey> own) {
    List<Forgotten> ends = new ArrayList<>();
    lock.lock();
    try {
      if (listed - newest < 0) {
        return CompletableFuture.completedFuture(false);
      }
      newest = listed;
      forgotten
          .values()
          .removeIf(each -> each.from - listed <= 0 && !own.containsKey(each.claim.id()));
      own.forEach((id, key) -> {
        Forgotten known = forgotten.get(id);
        if (known == null) {
          lookAgain(id, key);
        } else if (known.from - listed <= 0) {
          ends.add(known);
        }
      });
    } finally {
      lock.unlock();
    }
    return CompletableFuture.allOf(ends.stream().map(this::end).toArray(CompletableFuture[]::new))
        .thenApply(done -> true);
  }

  /**
   * Wants another round for a claim that is listed and of which nothing is left here; not for one that was made after the
   * last round was wanted: each list of a busy client has some of those.
   */
  private void lookAgain(ClaimId id, LockKey key) {
    if (id.number() > newestClaim || engine.registry.knows(id)) {
      return;
    }
    Claim claim = new Claim(id, key, 1, 1, Duration.ofSeconds(1), false, NOBODY);
    forgotten.put(id, new Forgotten(claim, Duration.ZERO, round + 1));
    needed = round + 1;
    if (!isSet) {
      setSoon();
    }
  }

  private CompletableFuture<?> end(Forgotten each) {
    Log.log(
        Level.WARNING,
        "lock={0} claim={1}: forgotten claim ended",
        each.claim.name(),
        each.claim.id());
    return engine.end(each.claim, each.keepFor, engine.store.time()).toCompletableFuture();
  }

  private void answered(int answered, @Nullable Boolean counts, @Nullable Throwable failure) {
    if (failure != null) {
      Log.thrown(Level.DEBUG, "this client's claims were not reconciled; tried again", failure);
      return;
    }
    if (!Boolean.TRUE.equals(counts)) {
      return;
    }
    lock.lock();
    try {
      if (answered - needed >= 0) {
        // maybe not to the latest round: a store that takes its time answers in the end
        isSet = false;
        forgotten.values().removeIf(each -> each.from - answered <= 0);
        engine.timer.clear(this);
      } else if (isSet) {
        // the store answers again: what is wanted since does not have to wait long
        setSoon();
      }
    } finally {
      lock.unlock();
    }
  }
}
