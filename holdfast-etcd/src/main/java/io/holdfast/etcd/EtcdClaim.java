// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.spi.Claim;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What this side knows of a claim until its end. */
final class EtcdClaim {
  final Claim claim;
  final ByteSequence key;
  final Instant since;
  final EtcdPlace place = new EtcdPlace();
  ByteSequence value;

  /** The seat that its key is; null for a claim that was forgotten. */
  final EtcdSeats.@Nullable Seat seat;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by the lock

  /** Attempts that may have been applied without our knowing. */
  private final Set<Sent> open = new HashSet<>();

  private @Nullable EtcdWait wait;
  private int ends;
  private long endingSince;
  private long keptUnder;

  /** Attempts that the store has not answered; guarded by the map of claims. */
  int asked;

  EtcdClaim(Claim claim, EtcdSeats.@Nullable Seat seat, ByteSequence key, Instant since) {
    this.claim = claim;
    this.seat = seat;
    this.key = key;
    this.since = since;
    this.value = EtcdValue.claim(EtcdValue.Kind.CLAIM, since, claim.holder()).write();
  }

  /** An attempt that was sent, and the lease that it puts the key under. */
  static final class Sent {
    final EtcdLease.Term term;

    Sent(EtcdLease.Term term) {
      this.term = term;
    }
  }

  /** Puts the key as a try's: others know that it may be deleted again. */
  void isTry() {
    value = EtcdValue.claim(EtcdValue.Kind.TRY, since, claim.holder()).write();
  }

  /**
   * Notes an attempt before it is sent.
   *
   * @return empty if the claim is being ended: nothing may be sent any more
   */
  Optional<Sent> sent(EtcdLease.Term under) {
    lock.lock();
    try {
      if (ends > 0) {
        return Optional.empty();
      }
      Sent attempt = new Sent(under);
      open.add(attempt);
      return Optional.of(attempt);
    } finally {
      lock.unlock();
    }
  }

  /** What became of an attempt is known. */
  void settled(Sent attempt) {
    lock.lock();
    try {
      open.remove(attempt);
    } finally {
      lock.unlock();
    }
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

  /** Whether nothing of the claim is there or can come, and it is not being ended. */
  boolean leftNothing() {
    lock.lock();
    try {
      return ends == 0 && open.isEmpty() && !place.isThere();
    } finally {
      lock.unlock();
    }
  }

  /** Begins to wait, unless it does, or its turn has come, or the claim is being ended; returns what is to be begun. */
  Optional<EtcdWait> startWaiting(EtcdContext context) {
    lock.lock();
    try {
      if (ends > 0 || wait != null || place.isFirst() || context.isClosed()) {
        return Optional.empty();
      }
      EtcdWait begun = new EtcdWait(context, this);
      wait = begun;
      return Optional.of(begun);
    } finally {
      lock.unlock();
    }
  }

  /** Whether it waits: then {@link #look} finds its turn. */
  boolean isWaiting() {
    lock.lock();
    try {
      return wait != null;
    } finally {
      lock.unlock();
    }
  }

  /** Has what it waits for looked at, if it waits. */
  void look() {
    EtcdWait waiting;
    lock.lock();
    try {
      waiting = wait;
    } finally {
      lock.unlock();
    }
    if (waiting != null) {
      waiting.look();
    }
  }

  /** The claim is being ended: nothing is sent for it any more but that, and it is not begun to wait for it again. */
  void end(long nowNanos) {
    lock.lock();
    try {
      if (ends == 0) {
        endingSince = nowNanos;
      }
      ends++;
    } finally {
      lock.unlock();
    }
  }

  /** Whether its end was asked for once, so that no other end of it can be under way when that was answered. */
  boolean isEndedOnce() {
    lock.lock();
    try {
      return ends == 1;
    } finally {
      lock.unlock();
    }
  }

  /** Whether its end was begun so long ago. */
  boolean isEndingFor(long nanos, long nowNanos) {
    lock.lock();
    try {
      return ends > 0 && nowNanos - endingSince >= nanos;
    } finally {
      lock.unlock();
    }
  }

  /** The lease that its lock is to be kept under; 0 if there is none yet. */
  long keptUnder() {
    lock.lock();
    try {
      return keptUnder;
    } finally {
      lock.unlock();
    }
  }

  void keptUnder(long lease) {
    lock.lock();
    try {
      keptUnder = lease;
    } finally {
      lock.unlock();
    }
  }

  /** The claim is waited for no longer, but may be again. */
  void stopWaiting() {
    EtcdWait old;
    lock.lock();
    try {
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
