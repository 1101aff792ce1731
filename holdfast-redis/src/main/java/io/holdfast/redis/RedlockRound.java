// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.spi.StoreRuntime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Collects the answers of all nodes to one question, until they decide it. Once a majority has answered, the others are
 * waited for only as long again, and a moment at least: a slow node costs nothing where the majority is enough, and that
 * time where it is not.
 *
 * @param <V> what a node answers
 * @param <D> what the answers decide
 */
final class RedlockRound<V, D> {
  /** Decides over the answers so far. */
  interface Judge<V, D> {
    /**
     * Returns the decision; null while it is open.
     *
     * @param votes the answers, null for a node that has not answered
     * @param over whether silent nodes are waited for no longer; then the decision is not null
     */
    @Nullable
    D decide(List<@Nullable V> votes, boolean over);
  }

  private final StoreRuntime runtime;
  private final Judge<V, D> judge;
  private final CompletableFuture<D> decision = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final List<@Nullable V> votes;
  private final long began;
  private int heard;
  private int answered;
  private boolean decided;

  /** Begins a round. What comes after its decision is not heard. */
  RedlockRound(StoreRuntime runtime, int nodes, Judge<V, D> judge) {
    this.runtime = runtime;
    this.judge = judge;
    this.began = runtime.ticker().nanos();
    this.votes = new ArrayList<>(nodes);
    for (int i = 0; i < nodes; i++) {
      votes.add(null);
    }
  }

  CompletionStage<D> decision() {
    return decision;
  }

  /**
   * A node was heard of.
   *
   * @param answers whether it answered, as against that nothing can be known of it
   */
  void heard(int node, V vote, boolean answers) {
    D found = null;
    boolean wait = false;
    lock.lock();
    try {
      if (!decided) {
        votes.set(node, vote);
        heard++;
        answered += answers ? 1 : 0;
        found = judge.decide(snapshot(), heard == votes.size());
        decided = found != null;
        wait = found == null && answers && answered == votes.size() / 2 + 1;
      }
    } finally {
      lock.unlock();
    }
    if (found != null) {
      decision.complete(found);
    } else if (wait) {
      long took = runtime.ticker().nanos() - began;
      runtime.scheduler().schedule(this::over, Math.max(took, ClaimVotes.STRAGGLERS.toNanos()));
    }
  }

  private void over() {
    D found = null;
    lock.lock();
    try {
      if (!decided) {
        found = judge.decide(snapshot(), true);
        decided = true;
      }
    } finally {
      lock.unlock();
    }
    if (found != null) {
      decision.complete(found);
    }
  }

  private List<@Nullable V> snapshot() {
    return new ArrayList<>(votes);
  }
}
