// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.SharedRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The session that all claims with leases of about one length share. It is renewed when the engine keeps one of them, when a new
 * one needs it young, and when one that waits leaves its word; by nothing else, so that it ends with the engine's wish. A
 * session that has ended is followed by a new one.
 *
 * <p>A session's deadline is counted from the moment before the last acknowledged request was sent that began or renewed
 * it.
 */
final class ConsulSession {
  /** A new claim gets a session that has at least nine tenths left. */
  private static final int YOUNG = 10;

  /** How long an unanswered renewal is shared; less for a short session. */
  private static final Duration SHARED_FOR = Duration.ofMillis(100);

  private final ConsulCalls calls;
  private final Ticker ticker;
  private final Duration length;
  private final Duration lockDelay;
  private final Consumer<Term> onBegun;
  private final Consumer<Term> onGone;
  private final SharedRequest<Term> creation;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  private @Nullable Term current;

  ConsulSession(
      ConsulCalls calls,
      Ticker ticker,
      Duration length,
      Duration lockDelay,
      Consumer<Term> onBegun,
      Consumer<Term> onGone) {
    this.calls = calls;
    this.ticker = ticker;
    this.length = length;
    this.lockDelay = lockDelay;
    this.onBegun = onBegun;
    this.onGone = onGone;
    this.creation = new SharedRequest<>(ticker, length.dividedBy(YOUNG));
  }

  /**
   * Returns how long a session lasts that is for such a lease: rounded up to whole seconds, and by an eighth at most, so that
   * leases that are computed from a deadline do not have one each.
   */
  static Duration lengthFor(Duration lease) {
    long seconds = lease.plusNanos(999_999_999L).toSeconds();
    long step = Math.max(1, Long.highestOneBit(seconds) / 8);
    return Duration.ofSeconds(
        Math.min((seconds + step - 1) / step * step, ConsulGuarantees.LONGEST.toSeconds()));
  }

  /** One session of the server. */
  final class Term {
    final String id;
    private volatile Moment anchor;

    /** When the attempts under this session were last called off, by the server's index; 0 for never. */
    volatile long epoch;

    private final AtomicLong raises = new AtomicLong();
    private final SharedRequest<Boolean> renewal =
        new SharedRequest<>(ticker, min(SHARED_FOR, length.dividedBy(YOUNG)));

    Term(String id, Moment anchor) {
      this.id = id;
      this.anchor = anchor;
    }

    /** The session did not end before this moment and its length. */
    Moment anchor() {
      return anchor;
    }

    /** Renews it, or shares a renewal that was just sent; answers false if the session has ended. */
    CompletableFuture<Boolean> renew() {
      return renewal.ask(before -> calls.renewSession(id).thenApply(renewed -> {
        if (renewed) {
          renewed(before);
        } else {
          gone();
        }
        return renewed;
      }));
    }

    private void renewed(Moment before) {
      lock.lock();
      try {
        if (before.nanos() - anchor.nanos() > 0) {
          anchor = before;
        }
      } finally {
        lock.unlock();
      }
    }

    /** Says whether the server has ended it, unless its clocks began anew. */
    boolean isOver() {
      return ticker.elapsedNanos(anchor) > 2 * nanos();
    }

    /** Returns another value each time: the server leaves a key alone, index and all, that is set to what it is. */
    String nextRaise() {
      return Long.toString(raises.incrementAndGet());
    }

    /** The server does not know it any more: the next claim gets another one. */
    void gone() {
      lock.lock();
      try {
        if (current == this) {
          current = null;
        }
      } finally {
        lock.unlock();
      }
      onGone.accept(this);
    }
  }

  /** Returns a session that has almost all of its time left. */
  CompletableFuture<Term> young() {
    Term old;
    lock.lock();
    try {
      Term term = current;
      long age = term == null ? Long.MAX_VALUE : ticker.elapsedNanos(term.anchor);
      if (term != null && age < nanos() / YOUNG) {
        return CompletableFuture.completedFuture(term);
      }
      if (term == null || age > nanos() - nanos() / YOUNG) {
        return creation.ask(this::create);
      }
      old = term;
    } finally {
      lock.unlock();
    }
    return old.renew()
        .thenCompose(renewed -> renewed ? CompletableFuture.completedFuture(old) : young());
  }

  /**
   * One that was made without our hearing of it is nobody's, locks nothing, and ends by its TTL: a name would not find
   * it sooner.
   */
  private CompletableFuture<Term> create(Moment before) {
    return calls.createSession(length, lockDelay).thenApply(id -> begun(new Term(id, before)));
  }

  private Term begun(Term term) {
    lock.lock();
    try {
      current = term;
    } finally {
      lock.unlock();
    }
    onBegun.accept(term);
    return term;
  }

  private long nanos() {
    return length.toNanos();
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
