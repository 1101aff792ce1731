// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The clocks of this machine, which can be stepped forward. */
final class SteppedTicker implements Ticker {
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong wallMillis = new AtomicLong();

  void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
    stepWall(time);
  }

  void stepWall(Duration forward) {
    wallMillis.addAndGet(forward.toMillis());
  }

  @Override
  public long nanos() {
    return Ticker.system().nanos() + nanos.get();
  }

  @Override
  public long wallMillis() {
    return Ticker.system().wallMillis() + wallMillis.get();
  }
}
