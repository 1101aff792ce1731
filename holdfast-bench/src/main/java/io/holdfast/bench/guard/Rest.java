// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Waits until a server is asked nothing more. */
final class Rest {
  /** What follows from an answer follows within this time, as long as the machine runs. */
  private static final long NANOS = 25_000_000;

  /** What may pass between two looks; more than that, and the machine has stood still with all that was to follow. */
  private static final long LOOK_NANOS = 2_000_000;

  private static final long PAUSE_NANOS = 1_000_000;

  private final Counter counter;
  private final Ticker ticker;
  private Map<String, Long> latest;
  private long lookedNanos;
  private long restedNanos;

  Rest(Counter counter, Ticker ticker) {
    this.counter = counter;
    this.ticker = ticker;
    latest = counter.now();
    lookedNanos = ticker.nanos();
  }

  /** Waits, and returns what was counted when the counts had stood still for a while. */
  static Map<String, Long> of(Counter counter) {
    Ticker ticker = Ticker.system();
    Rest rest = new Rest(counter, ticker);
    long began = ticker.nanos();
    // not Await: its pauses grow beyond LOOK_NANOS, and would be taken for standstills
    while (!rest.isThere()) {
      if (ticker.nanos() - began > Await.PATIENCE.toNanos()) {
        throw new AssertionError("the server was never at rest: " + rest.latest);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return rest.latest;
  }

  /** Looks once more, and says whether the counts have stood still for long enough. */
  boolean isThere() {
    Map<String, Long> now = counter.now();
    long nanos = ticker.nanos();
    restedNanos = now.equals(latest) ? restedNanos + Math.min(nanos - lookedNanos, LOOK_NANOS) : 0;
    latest = now;
    lookedNanos = nanos;
    return restedNanos > NANOS;
  }
}
