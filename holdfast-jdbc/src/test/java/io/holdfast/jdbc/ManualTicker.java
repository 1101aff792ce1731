// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Clocks that stand still until a test moves them. */
final class ManualTicker implements Ticker {
  private final AtomicLong nanos = new AtomicLong(1);
  private final AtomicLong wallMillis = new AtomicLong(1_800_000_000_000L);

  void advance(Duration by) {
    nanos.addAndGet(by.toNanos());
    wallMillis.addAndGet(by.toMillis());
  }

  /** Sets the wall clock, as an operator or NTP would. */
  void stepWall(Duration by) {
    wallMillis.addAndGet(by.toMillis());
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public long wallMillis() {
    return wallMillis.get();
  }
}
