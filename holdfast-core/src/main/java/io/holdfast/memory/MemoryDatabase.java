// SPDX-License-Identifier: Apache-2.0
package io.holdfast.memory;

import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The locks of one {@code memory:} store. Clients that share a database exclude each other, within one process.
 *
 * <p>Its clock is a ticker's monotonic one, so nothing steps. Each name is one entry of a map, and each verb is one atomic
 * change of an entry; what a change has to tell others is told after it.
 */
public final class MemoryDatabase {
  /** How long a queued claim lasts without being refreshed. */
  static final Duration WAITER_LEASE = Duration.ofSeconds(5);

  private static final int LOCKS = 64;

  private final Ticker ticker;
  private final Map<LockKey, MemoryRecord> records = new ConcurrentHashMap<>();

  /** A name's hash selects its lock. */
  private final ReentrantLock[] locks = new ReentrantLock[LOCKS];

  private final AtomicLong revisions = new AtomicLong();

  /** Makes an empty database on this machine's clock. */
  public MemoryDatabase() {
    this(Ticker.system());
  }

  /**
   * Makes an empty database.
   *
   * @param ticker its clock; should be the clients' too
   */
  public MemoryDatabase(Ticker ticker) {
    this.ticker = Objects.requireNonNull(ticker, "ticker");
    Arrays.setAll(locks, i -> new ReentrantLock());
  }

  long nowNanos() {
    return ticker.nanos();
  }

  Instant time() {
    return timeAt(ticker.nanos());
  }

  /** Returns a reading of {@link #nowNanos} as the database's time. */
  static Instant timeAt(long nanos) {
    return Instant.EPOCH.plusNanos(nanos);
  }

  long nextRevision() {
    return revisions.incrementAndGet();
  }

  /**
   * What is done to a record: returns the same, a new one if there was none, or null to drop it. Runs atomically, must be
   * short, and changes no other record.
   */
  @FunctionalInterface
  interface Change {
    @Nullable
    MemoryRecord apply(@Nullable MemoryRecord record);
  }

  /**
   * Changes a name's record. Writes the map only if a record is added or removed: {@code compute} would write a reference into
   * the entry each time, and with many locks that are renewed the garbage collector would scan all those entries again.
   */
  void change(LockKey key, Change change) {
    ReentrantLock lock = lockOf(key);
    assert !lock.isHeldByCurrentThread() : "a change within a change";
    lock.lock();
    try {
      MemoryRecord before = records.get(key);
      MemoryRecord after = change.apply(before);
      if (after == null) {
        records.remove(key);
      } else if (before == null) {
        records.put(key, after);
      }
    } finally {
      lock.unlock();
    }
  }

  private ReentrantLock lockOf(LockKey key) {
    int hash = key.hashCode();
    return locks[(hash ^ hash >>> Short.SIZE) & LOCKS - 1];
  }

  /** Returns a record's description, if it is taken or waited for. */
  Optional<LockInfo> describe(LockKey key) {
    List<LockInfo> found = new ArrayList<>(1);
    change(key, record -> {
      if (record != null) {
        record
            .describe(key.name(), nowNanos(), Instant.ofEpochMilli(ticker.wallMillis()))
            .ifPresent(found::add);
      }
      return record;
    });
    return found.stream().findFirst();
  }

  List<LockKey> keys() {
    return new ArrayList<>(records.keySet());
  }

  /** Returns the claims of one client. */
  Map<ClaimId, LockKey> claimsOf(String client) {
    Map<ClaimId, LockKey> own = new ConcurrentHashMap<>();
    for (LockKey key : keys()) {
      change(key, record -> {
        if (record != null) {
          for (Claim claim : record.claims(nowNanos())) {
            if (claim.id().client().equals(client)) {
              own.put(claim.id(), key);
            }
          }
        }
        return record;
      });
    }
    return own;
  }
}
