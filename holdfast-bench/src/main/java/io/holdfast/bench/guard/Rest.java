// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench.guard;

import io.holdfast.Ticker;
import io.holdfast.testkit.Await;
import java.util.Map;

/** Waits until a server is asked nothing more. */
final class Rest {
  /** What follows from an answer follows within this time, unless the machine has stopped. */
  private static final long NANOS = 25_000_000;

  private final Counter counter;
  private Map<String, Long> latest;
  private long sinceNanos = Ticker.system().nanos();

  private Rest(Counter counter) {
    this.counter = counter;
    latest = counter.now();
  }

  /** Waits, and returns what was counted when the counts had stood still for a while. */
  static Map<String, Long> of(Counter counter) {
    Rest rest = new Rest(counter);
    Await.until("the server is at rest", rest::isThere);
    return rest.latest;
  }

  private boolean isThere() {
    Map<String, Long> now = counter.now();
    if (now.equals(latest)) {
      return Ticker.system().nanos() - sinceNanos > NANOS;
    }
    latest = now;
    sinceNanos = Ticker.system().nanos();
    return false;
  }
}
