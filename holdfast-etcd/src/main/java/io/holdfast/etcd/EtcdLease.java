// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.SharedRequest;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The lease that all claims of one length share. It is renewed when the engine keeps one of them, and when a new one
 * needs it young; by nothing else, so that it ends with the engine's wish. A lease that has ended is followed by a new
 * one.
 *
 * <p>A lease's deadline is counted from the moment before the last acknowledged request was sent that began or renewed it.
 */
final class EtcdLease {
  /** A new claim gets a lease that has at least nine tenths left. */
  private static final int YOUNG = 10;

  /** How long an unanswered renewal is shared; less for a short lease. */
  private static final Duration SHARED_FOR = Duration.ofMillis(100);

  /** One that nobody has renewed for so many times its length ends by itself, if it has not. */
  private static final int ENDED = 4;

  private final EtcdCalls calls;
  private final Ticker ticker;
  private final long seconds;
  private final Duration length;
  private final ReentrantLock lock = new ReentrantLock();
  private final SharedRequest<Term> granting;

  // guarded by the lock

  private @Nullable Term current;

  /** All that may not have ended, with keys under them: a claim may have been put under an earlier one. */
  private final Set<Term> terms = new HashSet<>();

  EtcdLease(EtcdCalls calls, Ticker ticker, long seconds) {
    this.calls = calls;
    this.ticker = ticker;
    this.seconds = seconds;
    this.length = Duration.ofSeconds(seconds);
    this.granting = new SharedRequest<>(ticker, length.dividedBy(YOUNG));
  }

  /** Returns how many seconds the server is asked for: rounded up. */
  static long seconds(Duration lease) {
    return Math.max(1, lease.plusNanos(999_999_999L).toSeconds());
  }

  /** One lease of the server. */
  final class Term {
    final long id;
    private volatile Moment anchor;

    /** How often the attempts under this lease were called off. */
    volatile long epoch;

    private final SharedRequest<Moment> renewal =
        new SharedRequest<>(ticker, min(SHARED_FOR, length.dividedBy(YOUNG)));

    Term(long id, Moment anchor) {
      this.id = id;
      this.anchor = anchor;
    }

    /** The lease did not end before this moment and its length. */
    Moment anchor() {
      return anchor;
    }

    Duration length() {
      return length;
    }

    /** Whether it has almost all of its time left. */
    boolean isYoung() {
      return ticker.elapsedNanos(anchor) < nanos() / YOUNG;
    }

    /** Whether it does not end before a moment. */
    boolean lasts(long untilNanos) {
      return untilNanos == Long.MIN_VALUE || anchor.nanos() + nanos() - untilNanos >= 0;
    }

    /** When what was promised of it for so long ends. */
    long promisedUntil(Duration given) {
      return anchor.nanos() + Math.min(nanos(), given.toNanos());
    }

    /**
     * Renews it. Callers share a request: a thousand waiters whose server is slow would else send one each, again and again,
     * and keep it slow.
     *
     * @return completes with the moment before the request was sent; fails with {@link EtcdCalls.LeaseGone} if it has ended
     */
    CompletableFuture<Moment> renew() {
      return renew(Long.MIN_VALUE);
    }

    /** Renews it; shares a request only if the lease lasts until a moment by that. */
    private CompletableFuture<Moment> renew(long untilNanos) {
      return renewal.ask(
          untilNanos == Long.MIN_VALUE ? untilNanos : untilNanos - nanos(), this::send);
    }

    private CompletableFuture<Moment> send(Moment before) {
      return calls
          .keepAlive(id)
          .thenApply(kept -> {
            if (kept.getTTL() <= 0) {
              throw new EtcdCalls.LeaseGone(new IllegalStateException("no time left"));
            }
            renewed(before);
            return before;
          })
          .whenComplete((moment, failure) -> {
            if (failure != null && isGone(failure)) {
              gone();
            }
          });
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

    /** The server does not know it any more: the next claim gets another one. */
    void gone() {
      lock.lock();
      try {
        terms.remove(this);
        if (current == this) {
          current = null;
        }
      } finally {
        lock.unlock();
      }
    }
  }

  static boolean isGone(Throwable failure) {
    return failure instanceof EtcdCalls.LeaseGone
        || (failure instanceof CompletionException
            && failure.getCause() instanceof EtcdCalls.LeaseGone);
  }

  /** Returns the lease that is in use; null if there is none. */
  @Nullable
  Term current() {
    lock.lock();
    try {
      return current;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the leases that may not have ended. */
  List<Term> terms() {
    lock.lock();
    try {
      return List.copyOf(terms);
    } finally {
      lock.unlock();
    }
  }

  /** Returns a lease that has almost all of its time left. */
  CompletableFuture<Term> young() {
    return lasting(Long.MIN_VALUE);
  }

  /** Returns the same, and one that does not end before a moment at which one of this length that began now would not. */
  CompletableFuture<Term> lasting(long untilNanos) {
    return young(untilNanos)
        .thenCompose(term -> term.lasts(untilNanos)
            ? CompletableFuture.completedFuture(term)
            : renewed(term, untilNanos));
  }

  /** Returns a lease that has almost all of its time left; should it be renewed for that, it lasts until the moment too. */
  private CompletableFuture<Term> young(long untilNanos) {
    Term term = current();
    if (term != null && term.isYoung()) {
      return CompletableFuture.completedFuture(term);
    }
    if (term == null || ticker.elapsedNanos(term.anchor) > nanos() - nanos() / YOUNG) {
      return granting.ask(this::grant);
    }
    return renewed(term, untilNanos);
  }

  private CompletableFuture<Term> renewed(Term term, long untilNanos) {
    return term.renew(untilNanos)
        .thenApply(moment -> term)
        .exceptionallyCompose(
            failure -> isGone(failure) ? young() : CompletableFuture.failedFuture(failure));
  }

  private CompletableFuture<Term> grant(Moment before) {
    Term made = current();
    if (made != null && made.isYoung()) {
      // another request has made a lease since young() looked for one
      return CompletableFuture.completedFuture(made);
    }
    return calls.grant(seconds).thenApply(granted -> begun(new Term(granted.getID(), before)));
  }

  private Term begun(Term term) {
    lock.lock();
    try {
      long now = ticker.nanos();
      terms.removeIf(each -> now - each.anchor.nanos() > ENDED * nanos());
      terms.add(term);
      Term other = current;
      if (other != null && other.anchor.nanos() - term.anchor.nanos() > 0) {
        // this answer was overtaken: what is under the other one must not be put under one that ends earlier
        return other;
      }
      current = term;
      return term;
    } finally {
      lock.unlock();
    }
  }

  private long nanos() {
    return seconds * 1_000_000_000L;
  }

  private static Duration min(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
