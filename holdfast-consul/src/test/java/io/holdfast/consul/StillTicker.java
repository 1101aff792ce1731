// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Clocks that begin at 0 and stand still until a test moves them. */
final class StillTicker implements Ticker {
  private final AtomicLong nanos = new AtomicLong();

  void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public long wallMillis() {
    return nanos.get() / 1_000_000;
  }
}
