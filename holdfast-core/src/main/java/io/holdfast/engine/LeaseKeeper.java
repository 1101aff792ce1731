// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Collects the claims whose leases are to be renewed (and the waiters that are to be refreshed), and asks the store for
 * all of them at once: the claims that became due in one wake-up of the timer travel together, earliest first.
 */
final class LeaseKeeper {
  /** The most that is asked for in one request; bounds the time that one request takes in the store. */
  static final int BATCH = 1_000;

  private static final Kept UNKNOWN = new Kept.Unknown();

  private record Entry(Claimant claimant, @Nullable Tenure during, int number) {}

  private final Engine engine;
  private final ReentrantLock lock = new ReentrantLock();
  private List<Entry> entries = new ArrayList<>();

  /** Sends what was collected, unless the timer's wake-up will. */
  final Runnable flush = this::flushUnlessTicking;

  LeaseKeeper(Engine engine) {
    this.engine = engine;
  }

  /**
   * Adds a claim. {@link #flush} is to follow, without locks.
   *
   * @param during its tenure, null if it waits
   * @param number of the renewal in this tenure; of a refresh, among the claim's requests
   */
  void add(Claimant claimant, @Nullable Tenure during, int number) {
    lock.lock();
    try {
      entries.add(new Entry(claimant, during, number));
    } finally {
      lock.unlock();
    }
  }

  private void flushUnlessTicking() {
    if (!engine.timer.isTicking()) {
      flushNow();
    }
  }

  /** Sends what was collected. */
  void flushNow() {
    List<Entry> all;
    lock.lock();
    try {
      if (entries.isEmpty()) {
        return;
      }
      all = entries;
      entries = new ArrayList<>();
    } finally {
      lock.unlock();
    }
    // what was ended since it was collected is not renewed
    all.removeIf(entry -> !entry.claimant.isToBeKept(entry.during));
    for (int from = 0; from < all.size(); from += BATCH) {
      List<Entry> batch = all.subList(from, Math.min(from + BATCH, all.size()));
      Guard.run(() -> send(batch));
    }
  }

  private void send(List<Entry> batch) {
    List<Claim> claims = new ArrayList<>(batch.size());
    for (Entry entry : batch) {
      claims.add(entry.claimant.claim);
    }
    boolean answered = false;
    CompletionStage<Map<ClaimId, Kept>> stage;
    try {
      stage = engine.keep(claims);
      answered = isAnswered(stage);
    } finally {
      // whatever happened: their leases' ends are on nobody's timer until this
      if (!answered) {
        batch.forEach(entry -> Guard.run(() -> entry.claimant.keepSent(entry.during)));
      }
    }
    stage.whenComplete((answers, failure) -> Guard.run(() -> answered(batch, answers, failure)));
  }

  private static boolean isAnswered(CompletionStage<?> stage) {
    return stage.getClass() == CompletableFuture.class
        && stage instanceof CompletableFuture<?> future
        && future.isDone();
  }

  private void answered(
      List<Entry> batch, @Nullable Map<ClaimId, Kept> answers, @Nullable Throwable failure) {
    for (Entry entry : batch) {
      Kept kept = answers == null ? null : answers.get(entry.claimant.claim.id());
      Guard.run(() ->
          entry.claimant.kept(kept == null ? UNKNOWN : kept, failure, entry.during, entry.number));
    }
  }
}
