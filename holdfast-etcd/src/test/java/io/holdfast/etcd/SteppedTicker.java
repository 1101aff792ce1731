// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.Moment;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The clocks of this machine, which can be stepped forward, and stopped. */
final class SteppedTicker implements Ticker {
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong wallMillis = new AtomicLong();
  private volatile Ticker clocks = Ticker.system();

  void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
    stepWall(time);
  }

  /** From now on only {@link #pass} counts, however slow the machine. */
  void stop() {
    Moment at = Ticker.system().now();
    clocks = new Ticker() {
      @Override
      public long nanos() {
        return at.nanos();
      }

      @Override
      public long wallMillis() {
        return at.wallMillis();
      }
    };
  }

  void stepWall(Duration forward) {
    wallMillis.addAndGet(forward.toMillis());
  }

  @Override
  public long nanos() {
    return clocks.nanos() + nanos.get();
  }

  @Override
  public long wallMillis() {
    return clocks.wallMillis() + wallMillis.get();
  }
}
