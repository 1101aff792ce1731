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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The locks of one {@code memory:} store. Clients that share a database exclude each other, within one process.
 *
 * <p>Its clock is a ticker's monotonic one, so nothing steps. Each name has one record, and each verb is one atomic change of
 * a record; what a change has to tell others is told after it.
 */
public final class MemoryDatabase {
  /** How long a queued claim lasts without being refreshed. */
  static final Duration WAITER_LEASE = Duration.ofSeconds(5);

  private final Ticker ticker;
  private final Map<LockKey, MemoryRecord> records = new ConcurrentHashMap<>();
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
   * Does something to a name's record, atomically; it must be short. The record of a name that is not taken nor waited for
   * is empty, and is dropped.
   */
  void change(LockKey key, Consumer<MemoryRecord> change) {
    while (!changed(key, change)) {
      // another change has dropped the record since it was found
    }
  }

  private boolean changed(LockKey key, Consumer<MemoryRecord> change) {
    // not compute(): that writes the record into the map each time, and 100,000 references a round keep the collector busy
    MemoryRecord record = records.computeIfAbsent(key, none -> new MemoryRecord());
    synchronized (record) {
      if (record.isDropped()) {
        return false;
      }
      try {
        change.accept(record);
      } finally {
        if (record.dropIfEmpty()) {
          records.remove(key, record);
        }
      }
      return true;
    }
  }

  /** Returns a record's description, if it is taken or waited for. */
  Optional<LockInfo> describe(LockKey key) {
    List<LockInfo> found = new ArrayList<>(1);
    change(key, record -> {
      record
          .describe(key.name(), nowNanos(), Instant.ofEpochMilli(ticker.wallMillis()))
          .ifPresent(found::add);
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
        for (Claim claim : record.claims(nowNanos())) {
          if (claim.id().client().equals(client)) {
            own.put(claim.id(), key);
          }
        }
      });
    }
    return own;
  }
}
