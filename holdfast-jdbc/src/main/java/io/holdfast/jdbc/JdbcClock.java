// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** What the database's clock reads: its time in the last answer that had it, and what has passed here since. */
final class JdbcClock {
  private static final long LATEST_SECONDS = Long.MAX_VALUE / 2_000_000;

  private final Ticker ticker;
  private volatile Reading reading;

  private record Reading(long micros, long nanos) {}

  JdbcClock(Ticker ticker) {
    this.ticker = ticker;
    reading = new Reading(ticker.wallMillis() * 1000, ticker.nanos());
  }

  void heard(long micros) {
    reading = new Reading(micros, ticker.nanos());
  }

  Instant now() {
    Reading last = reading;
    return Instant.EPOCH.plus(
        last.micros + (ticker.nanos() - last.nanos) / 1000, ChronoUnit.MICROS);
  }

  /** Returns microseconds since the epoch; what lies further ahead than a database can say is as late as it can say. */
  static long micros(Instant instant) {
    if (instant.isBefore(Instant.EPOCH)) {
      return 0;
    }
    long seconds = Math.min(instant.getEpochSecond(), LATEST_SECONDS);
    return seconds * 1_000_000L + instant.getNano() / 1000;
  }
}
