// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Moment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a lock may be free: a blocking query on its key, one after the other. The index goes on from answer to answer;
 * one that went back (the servers were restored, or have forgotten what was deleted) is not trusted, and the next query is
 * answered at once. Where there are too many queries already, and while a lock-delay lasts, of whose end nobody tells, it
 * looks from time to time.
 *
 * <p>It leaves word that somebody waits: a key of the lock's, locked with the session, written only while the holder that was
 * seen has the lock. Who releases the lock, or gets it, takes it away; so each holder is told anew. The word is left again
 * with each query, at least twice in a lease: that renews the session, with which the word would go, and somebody else's
 * that is gone is replaced.
 */
final class ConsulWait {
  /** How long a query waits at most: a connection that died unnoticed is found so late. */
  private static final Duration MOST = Duration.ofSeconds(10);

  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Duration LOOKS_EVERY = Duration.ofMillis(500);

  /** The longest pause between looks, after failures. */
  private static final Duration LOOKS_AT_LEAST_EVERY = Duration.ofSeconds(4);

  private final ConsulContext context;
  private final ConsulClaim claim;
  private final Duration wait;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private boolean closed;
  private @Nullable Moment wordLeft;
  private ConsulCalls.@Nullable Query query;

  ConsulWait(ConsulContext context, ConsulClaim claim) {
    this.context = context;
    this.claim = claim;
    Duration half = claim.claim.lease().dividedBy(2);
    this.wait = half.compareTo(MOST) < 0 ? half : MOST;
  }

  /** Begins behind the holder that was seen; empty: nobody is seen, but the lock is not given either. */
  void begin(Optional<ConsulEntry> holder) {
    if (holder.isEmpty()) {
      context.later(LOOKS_EVERY, this::free);
      return;
    }
    leaveWord(holder.get().index());
    watch(holder.get().index(), holder.get().index());
  }

  private void leaveWord(long index) {
    lock.lock();
    try {
      if (closed || context.isClosed()) {
        return;
      }
      wordLeft = context.runtime.ticker().now();
    } finally {
      lock.unlock();
    }
    context.leaveWord(() -> context
        .session(claim.claim.lease())
        .young()
        .thenCompose(term -> context.isClosed()
            ? CompletableFuture.completedFuture(false)
            : context
                .calls
                .txn(new ConsulTxn().isSame(claim.key, index).lock(claim.wanted, term.id, ""))
                .thenApply(ConsulTxn.Answer::isDone)));
  }

  /** Says whether the word may be gone soon: queries that are answered at once do not leave it each time. */
  private boolean isWordOld() {
    lock.lock();
    try {
      return wordLeft == null
          || context.runtime.ticker().elapsedNanos(wordLeft) > wait.toNanos() / 2;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for another change.
   *
   * @param index the query's
   * @param holder when the holder that was seen got the lock
   */
  private void watch(long index, long holder) {
    if (!context.mayQuery()) {
      look(holder);
      return;
    }
    ConsulCalls.Query begun = null;
    lock.lock();
    try {
      if (!closed && !context.isClosed()) {
        begun = context.calls.watch(claim.key, index, wait);
        query = begun;
      }
    } finally {
      lock.unlock();
      if (begun == null) {
        context.queried();
      }
    }
    if (begun == null) {
      return;
    }
    Moment before = context.runtime.ticker().now();
    CompletionStage<ConsulCalls.Seen> stage = begun.seen();
    stage.whenComplete((seen, failure) -> {
      context.queried();
      if (isClosed()) {
        return;
      }
      if (failure != null) {
        context.later(PAUSE, () -> watch(0, holder));
      } else {
        saw(seen.entry(), index, next(index, seen.index()), holder, before);
      }
    });
  }

  /** From where the next query goes on: 0, which is answered at once, if the index cannot be trusted. */
  static long next(long before, long now) {
    return now < Math.max(1, before) ? 0 : now;
  }

  private void look(long holder) {
    look(holder, LOOKS_EVERY);
  }

  private void look(long holder, Duration pause) {
    context.later(pause, () -> {
      if (!isClosed()) {
        Moment before = context.runtime.ticker().now();
        CompletionStage<ConsulEntry> stage = context.calls.look(claim.key);
        stage.whenComplete((entry, failure) -> {
          if (failure != null) {
            Duration longer = pause.multipliedBy(2);
            look(
                holder, longer.compareTo(LOOKS_AT_LEAST_EVERY) < 0 ? longer : LOOKS_AT_LEAST_EVERY);
          } else {
            saw(entry, holder, entry.index(), holder, before);
          }
        });
      }
    });
  }

  /**
   * Goes on after an answer.
   *
   * @param asked the index that was asked with
   * @param index the next one
   * @param holder when the holder that was seen before got the lock
   * @param before when it was asked
   */
  private void saw(ConsulEntry entry, long asked, long index, long holder, Moment before) {
    if (isClosed()) {
      return;
    }
    if (!entry.isThere() || !entry.isLocked()) {
      free();
      return;
    }
    if (entry.index() != holder || isWordOld()) {
      leaveWord(entry.index());
    }
    boolean atOnce =
        context.runtime.ticker().elapsedNanos(before) < PAUSE.toNanos() && entry.index() == holder;
    if (atOnce && (index != 0 || asked == 0)) {
      // nothing has changed, and it was answered all the same, or no index is told: not in a hurry
      context.later(PAUSE, () -> watch(index, entry.index()));
    } else {
      watch(index, entry.index());
    }
  }

  /** The engine asks again, and begins another wait if it was in vain. */
  private void free() {
    if (!isClosed()) {
      claim.stopWaiting();
      context.events.lookAgain(claim.claim.id());
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    ConsulCalls.Query old;
    lock.lock();
    try {
      closed = true;
      old = query;
      query = null;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.cancel();
    }
  }
}
