// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Ticker;
import java.time.Instant;

/** The store's time: Consul has no clock to ask, so it is this machine's monotonic one, begun at the wall clock's time. */
final class ConsulClock {
  private final Ticker ticker;
  private final Instant begin;
  private final long beginNanos;

  ConsulClock(Ticker ticker) {
    this.ticker = ticker;
    this.begin = Instant.ofEpochMilli(ticker.wallMillis());
    this.beginNanos = ticker.nanos();
  }

  Instant now() {
    return begin.plusNanos(ticker.nanos() - beginNanos);
  }

  /** What the wall clock says, for people. */
  Instant wall() {
    return Instant.ofEpochMilli(ticker.wallMillis());
  }

  boolean isPast(Instant instant) {
    return now().isAfter(instant);
  }
}
