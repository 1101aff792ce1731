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
import org.jspecify.annotations.Nullable;

/**
 * The locks of one {@code memory:} store. Clients that share a database exclude each other, within one process.
 *
 * <p>Its clock is a ticker's monotonic one, so nothing steps. Each name is one entry of a concurrent map, and each verb
 * is one atomic change of an entry; what a change has to tell others is told after it.
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

  /** What is done to a record; returns null to drop it. Runs atomically and must be short. */
  @FunctionalInterface
  interface Change {
    @Nullable
    MemoryRecord apply(@Nullable MemoryRecord record);
  }

  void change(LockKey key, Change change) {
    records.compute(key, (k, record) -> change.apply(record));
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
