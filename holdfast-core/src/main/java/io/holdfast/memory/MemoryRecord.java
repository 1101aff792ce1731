// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

import io.holdfast.LockInfo;
import io.holdfast.Waiters;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One name in a {@link MemoryDatabase}: who holds it, who waits. Changed only inside the database's atomic changes.
 *
 * <p>Waiters are served in the order of arrival, fair or not.
 */
final class MemoryRecord {
  /** A queued claim, and how to tell it. */
  static final class Waiter {
    final Claim claim;
    final MemoryStore client;
    long untilNanos;

    Waiter(Claim claim, MemoryStore client, long untilNanos) {
      this.claim = claim;
      this.client = client;
      this.untilNanos = untilNanos;
    }
  }

  private @Nullable Claim holder;
  private long revision;
  private long sinceNanos;
  private long untilNanos;
  private boolean kept;
  private @Nullable MemoryStore looker;
  private long lookAtNanos;
  private @Nullable Map<ClaimId, Waiter> waiters;

  /** Ends what has expired; says whether the lock is free now. */
  boolean expire(long nowNanos) {
    if ((holder != null || kept) && untilNanos - nowNanos <= 0) {
      holder = null;
      kept = false;
    }
    return holder == null && !kept;
  }

  boolean isHeldBy(Claim claim) {
    return holder != null && holder.id().equals(claim.id());
  }

  @Nullable
  Claim holder() {
    return holder;
  }

  long revision() {
    return revision;
  }

  long leftNanos(long nowNanos) {
    return untilNanos - nowNanos;
  }

  void grant(Claim claim, long newRevision, long nowNanos) {
    holder = claim;
    kept = false;
    revision = newRevision;
    sinceNanos = nowNanos;
    extend(nowNanos);
    forget(claim.id());
  }

  void extend(long nowNanos) {
    Claim current = holder;
    if (current != null) {
      untilNanos = nowNanos + current.lease().toNanos();
    }
  }

  /** Bounds the lease of a grant that was pushed, until its claim is kept for the first time; returns the lease. */
  Duration shorten(Duration most, long nowNanos) {
    Duration left = Duration.ofNanos(untilNanos - nowNanos);
    if (left.compareTo(most) <= 0) {
      return left;
    }
    untilNanos = nowNanos + most.toNanos();
    return most;
  }

  /** The holder is done; the lock stays taken until its time of the grant plus {@code keepFor}. */
  void release(Duration keepFor, long nowNanos) {
    holder = null;
    untilNanos = sinceNanos + keepFor.toNanos();
    kept = untilNanos - nowNanos > 0;
  }

  void evict() {
    holder = null;
    kept = false;
  }

  void enqueue(Claim claim, MemoryStore client, long nowNanos) {
    if (waiters == null) {
      waiters = new LinkedHashMap<>();
    }
    Waiter waiter = waiters.computeIfAbsent(claim.id(), id -> new Waiter(claim, client, 0));
    waiter.untilNanos = nowNanos + MemoryDatabase.WAITER_LEASE.toNanos();
  }

  @Nullable
  Waiter waiter(ClaimId id) {
    return waiters == null ? null : waiters.get(id);
  }

  /** Takes a waiter out; says whether it was there. */
  boolean forget(ClaimId id) {
    if (waiters == null || waiters.remove(id) == null) {
      return false;
    }
    if (waiters.isEmpty()) {
      waiters = null;
    }
    return true;
  }

  /** Returns the waiter whose turn it is; those that have died are dropped. */
  @Nullable
  Waiter firstWaiter(long nowNanos) {
    if (waiters == null) {
      return null;
    }
    Iterator<Waiter> all = waiters.values().iterator();
    while (all.hasNext()) {
      Waiter waiter = all.next();
      if (waiter.untilNanos - nowNanos > 0) {
        return waiter;
      }
      all.remove();
    }
    waiters = null;
    return null;
  }

  /**
   * Returns who is to look when the lease ends: the client of the first waiter, whose timer runs as long as that waits.
   * Null if nobody waits, or if it will look in time.
   */
  @Nullable
  Look look(LockKey key, long nowNanos) {
    if (waiters == null) {
      return null;
    }
    MemoryStore first = waiters.values().iterator().next().client;
    if (first == looker && lookAtNanos - untilNanos <= 0 && lookAtNanos - nowNanos > 0) {
      return null;
    }
    looker = first;
    lookAtNanos = Math.max(nowNanos, untilNanos);
    return new Look(first, key, lookAtNanos - nowNanos);
  }

  /** A look has come. */
  void looked() {
    looker = null;
  }

  /** A client's promise to look at a name after a time. */
  record Look(MemoryStore by, LockKey key, long inNanos) {}

  /** Whether somebody of another client waits. */
  boolean othersWait(String client) {
    return waiters != null
        && waiters.keySet().stream().anyMatch(id -> !id.client().equals(client));
  }

  boolean isEmpty() {
    return holder == null && !kept && waiters == null;
  }

  List<Claim> claims(long nowNanos) {
    List<Claim> all = new ArrayList<>();
    expire(nowNanos);
    if (holder != null) {
      all.add(holder);
    }
    if (waiters != null) {
      waiters.values().forEach(waiter -> all.add(waiter.claim));
    }
    return all;
  }

  Optional<LockInfo> describe(String name, long nowNanos, Instant time) {
    boolean free = expire(nowNanos);
    if (free && firstWaiter(nowNanos) == null) {
      return Optional.empty();
    }
    Duration left = free ? Duration.ZERO : Duration.ofNanos(untilNanos - nowNanos);
    Optional<Claim> held = Optional.ofNullable(holder);
    return Optional.of(new LockInfo(
        name,
        held.map(Claim::holder),
        held.map(claim -> time.minusNanos(nowNanos - sinceNanos)),
        held.isPresent() ? left : Duration.ZERO,
        revision << 8,
        kept ? Optional.of(time.plus(left)) : Optional.empty(),
        Waiters.exactly(waiters == null ? 0 : waiters.size())));
  }
}
