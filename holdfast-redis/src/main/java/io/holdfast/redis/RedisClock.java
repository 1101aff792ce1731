// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** What the server's clock reads: its time in the last answer, and what has passed here since that came. */
final class RedisClock {
  private static final long MICROS = 1_000_000L;

  /** Where a Lua number is still exact. */
  private static final long LATEST = 1L << 52;

  private final Ticker ticker;
  private volatile Reading reading;

  private record Reading(long micros, long nanos) {}

  RedisClock(Ticker ticker) {
    this.ticker = ticker;
    this.reading = new Reading(ticker.wallMillis() * 1000, ticker.nanos());
  }

  void heard(long micros) {
    reading = new Reading(micros, ticker.nanos());
  }

  Instant now() {
    Reading last = reading;
    return instant(last.micros + (ticker.nanos() - last.nanos) / 1000);
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  static long micros(Duration duration) {
    return duration.toNanos() / 1000;
  }

  /** Returns microseconds, within what the scripts can compare. */
  static long micros(Instant instant) {
    if (instant.isBefore(Instant.EPOCH)) {
      return 0;
    }
    if (instant.getEpochSecond() >= LATEST / MICROS) {
      return LATEST;
    }
    return instant.getEpochSecond() * MICROS + instant.getNano() / 1000;
  }
}
