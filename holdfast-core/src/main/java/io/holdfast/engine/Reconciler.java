// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Holder;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends claims of this client that the store has and the engine does not know any more. On stores where claims share a
 * session a forgotten one would live as long as the session.
 *
 * <p>A claim is known before its first attempt is sent and until its end is final, so what the store lists and the
 * engine does not know is nobody's.
 */
final class Reconciler extends Timed {
  private static final System.Logger LOG = System.getLogger("io.holdfast");
  private static final Holder NOBODY = new Holder("reconciler", "", 0, "", "");

  private final Engine engine;
  private final ReentrantLock lock = new ReentrantLock();

  /** Which round is the last that was wanted or begun; guarded by the lock. */
  private int round;

  Reconciler(Engine engine) {
    this.engine = engine;
  }

  /** Runs once, after what was under way when the connection came back has been answered. */
  void soon() {
    nextRound();
  }

  private int nextRound() {
    lock.lock();
    try {
      engine.timer.set(this, engine.ticker.nanos() + engine.requestTimeoutNanos());
      return ++round;
    } finally {
      lock.unlock();
    }
  }

  @Override
  void due() {
    // asked again, unless everything is answered by then
    int current = nextRound();
    engine
        .ask(engine.store::own)
        .thenCompose(this::endForgotten)
        .whenComplete((done, failure) -> Guard.run(() -> answered(current, failure)));
  }

  private CompletionStage<?> endForgotten(Map<ClaimId, LockKey> own) {
    List<CompletableFuture<?>> ends = new ArrayList<>();
    own.forEach((id, key) -> {
      if (!engine.knows(id)) {
        LOG.log(Level.WARNING, "lock={0} claim={1}: forgotten claim ended", key, id);
        Claim claim = new Claim(id, key, 1, 1, Duration.ofSeconds(1), false, NOBODY);
        ends.add(engine.end(claim, Duration.ZERO, engine.store.time()).toCompletableFuture());
      }
    });
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }

  private void answered(int answered, @Nullable Throwable failure) {
    if (failure != null) {
      LOG.log(Level.DEBUG, "this client's claims were not reconciled; tried again", failure);
      return;
    }
    lock.lock();
    try {
      if (answered == round) {
        engine.timer.clear(this);
      }
    } finally {
      lock.unlock();
    }
  }
}
