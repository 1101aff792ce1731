// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What this side knows of a claim until its end. */
final class ConsulClaim {
  final Claim claim;
  final Instant since;
  final String key;
  final String wanted;
  final String value;

  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Tenure tenure;
  private volatile @Nullable Moment granted;

  /** The session that a kept lock gets; one that was not used yet is used by the end that is asked for again. */
  volatile Optional<String> keeper = Optional.empty();

  /** Whether it is being ended without our knowing what became of it: it may have a lock with any session. */
  volatile boolean isUnknown;

  /** Whether a session was asked for to keep the lock, and it is not known whether there is one. */
  volatile boolean keeperAsked;

  // guarded by the lock

  /** Attempts under way. */
  private int attempts;

  /** Whether an attempt was answered so that the engine will end the claim. */
  private boolean awaitsEnd;

  /** Attempts that may have been applied without our knowing. */
  private final Set<Sent> open = new HashSet<>();

  private @Nullable ConsulWait wait;

  /** When its end was first asked for; null if it was not. */
  private @Nullable Moment ending;

  ConsulClaim(Claim claim, ConsulKeys keys, Instant since) {
    this.claim = claim;
    this.since = since;
    this.key = keys.lock(claim.name());
    this.wanted = keys.wanted(claim.name());
    this.value = ConsulValue.held(claim, since).write();
  }

  /**
   * What the claim was granted.
   *
   * @param revision the index of the transaction that did it
   * @param term the session that has the key locked
   */
  record Tenure(long revision, ConsulSession.Term term) {}

  /** An attempt that was sent, and the session that it locks the key with. */
  static final class Sent {
    final ConsulSession.Term term;

    Sent(ConsulSession.Term term) {
      this.term = term;
    }
  }

  /** What it was granted, as far as is known; null if nothing. */
  @Nullable
  Tenure tenure() {
    return tenure;
  }

  /**
   * The claim was seen to hold the lock: the grant was before this moment. The answer of an earlier attempt may come after a
   * later one's, and tells of a grant that is over.
   */
  void granted(long revision, ConsulSession.Term term, Moment now) {
    lock.lock();
    try {
      Tenure known = tenure;
      if (known == null || revision > known.revision) {
        tenure = new Tenure(revision, term);
      }
      if (granted == null) {
        granted = now;
      }
    } finally {
      lock.unlock();
    }
  }

  Optional<Moment> grantedBefore() {
    return Optional.ofNullable(granted);
  }

  /** An attempt is being sent; empty if the claim is being ended, so that it must not be. */
  Optional<Sent> sent(ConsulSession.Term with) {
    Sent attempt = new Sent(with);
    lock.lock();
    try {
      if (ending != null) {
        return Optional.empty();
      }
      open.add(attempt);
      return Optional.of(attempt);
    } finally {
      lock.unlock();
    }
  }

  /** What became of an attempt is known. */
  void settled(Sent attempt) {
    settled(Set.of(attempt));
  }

  void settled(Set<Sent> attempts) {
    lock.lock();
    try {
      open.removeAll(attempts);
    } finally {
      lock.unlock();
    }
  }

  Set<Sent> open() {
    lock.lock();
    try {
      return Set.copyOf(open);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the sessions that it may have the lock with. What is granted is noted before its attempt is settled. */
  Set<ConsulSession.Term> terms() {
    Set<ConsulSession.Term> terms = new HashSet<>();
    open().forEach(each -> terms.add(each.term));
    Tenure granted = tenure;
    if (granted != null) {
      terms.add(granted.term);
    }
    return terms;
  }

  /** An attempt begins. */
  void attemptBegan() {
    lock.lock();
    try {
      attempts++;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Counts an attempt as ended; returns whether the claim can be forgotten.
   *
   * @param engineEndsIt whether the engine will end the claim after this answer
   */
  boolean attemptEnded(boolean engineEndsIt) {
    lock.lock();
    try {
      attempts--;
      awaitsEnd |= engineEndsIt;
      boolean nothingIsThere = ending == null && open.isEmpty() && tenure == null && wait == null;
      return attempts == 0 && !awaitsEnd && nothingIsThere;
    } finally {
      lock.unlock();
    }
  }

  boolean isWaiting() {
    lock.lock();
    try {
      return wait != null;
    } finally {
      lock.unlock();
    }
  }

  /** Begins to wait, unless it does, the claim is being ended, or the store was closed; returns what is to be begun. */
  Optional<ConsulWait> startWaiting(ConsulContext context) {
    lock.lock();
    try {
      if (ending != null || wait != null || context.isClosed()) {
        return Optional.empty();
      }
      ConsulWait begun = new ConsulWait(context, this);
      wait = begun;
      return Optional.of(begun);
    } finally {
      lock.unlock();
    }
  }

  /** The claim is waited for no longer, but may be again. */
  void stopWaiting() {
    stop(null);
  }

  /** The claim is being ended: it is never waited for again, and no attempt is sent. */
  void end(Moment now) {
    stop(now);
  }

  /** Whether its end was first asked for so long ago. */
  boolean isEndingFor(Ticker ticker, Duration time) {
    lock.lock();
    try {
      return ending != null && ticker.elapsedNanos(ending) >= time.toNanos();
    } finally {
      lock.unlock();
    }
  }

  private void stop(@Nullable Moment forGood) {
    ConsulWait old;
    lock.lock();
    try {
      if (ending == null) {
        ending = forGood;
      }
      old = wait;
      wait = null;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.close();
    }
  }
}
