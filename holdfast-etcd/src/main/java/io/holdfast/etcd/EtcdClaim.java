// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.Moment;
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
  ByteSequence value;

  private final ReentrantLock lock = new ReentrantLock();
  private volatile long revision;
  private volatile EtcdLease.@Nullable Term term;
  private volatile @Nullable Moment granted;

  // guarded by the lock

  /** Attempts that may have been applied without our knowing. */
  private final Set<Sent> open = new HashSet<>();

  private @Nullable EtcdWait wait;
  private boolean ending;

  EtcdClaim(Claim claim, ByteSequence key, Instant since) {
    this.claim = claim;
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

  /** The create revision of the key; 0 if it is not known. */
  long revision() {
    return revision;
  }

  void revision(long seen) {
    revision = seen;
  }

  /** The lease that the key was last put under, as far as is known. */
  EtcdLease.@Nullable Term term() {
    return term;
  }

  void under(EtcdLease.Term now) {
    term = now;
  }

  /** The claim was seen to hold the lock: the grant was before this moment. */
  void granted(Moment now) {
    if (granted == null) {
      granted = now;
    }
  }

  Optional<Moment> grantedBefore() {
    return Optional.ofNullable(granted);
  }

  Sent sent(EtcdLease.Term under) {
    Sent attempt = new Sent(under);
    lock.lock();
    try {
      open.add(attempt);
      return attempt;
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

  /** Begins to wait, unless it does or the claim is being ended; returns what is to be begun. */
  Optional<EtcdWait> startWaiting(EtcdContext context) {
    lock.lock();
    try {
      if (ending || wait != null) {
        return Optional.empty();
      }
      EtcdWait begun = new EtcdWait(context, this);
      wait = begun;
      return Optional.of(begun);
    } finally {
      lock.unlock();
    }
  }

  /** The claim is waited for no longer, but may be again. */
  void stopWaiting() {
    stop(false);
  }

  /** The claim is being ended: it is never waited for again. */
  void end() {
    stop(true);
  }

  private void stop(boolean forGood) {
    EtcdWait old;
    lock.lock();
    try {
      ending |= forGood;
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
