// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Ticker;
import java.time.Duration;

/** Does something again and again in one thread, and counts. */
final class Loop {
  private static final Ticker TICKER = Ticker.system();

  /** One cycle, for example acquire and release. */
  @FunctionalInterface
  interface Cycle {
    void run() throws Exception;
  }

  private Loop() {}

  /**
   * Returns cycles per second.
   *
   * @param batch cycles between two looks at the clock: so many that the look does not count
   */
  static double perSecond(Duration time, int batch, Cycle cycle) throws Exception {
    long begin = TICKER.nanos();
    long cycles = 0;
    long elapsed;
    do {
      for (int i = 0; i < batch; i++) {
        cycle.run();
      }
      cycles += batch;
      elapsed = TICKER.nanos() - begin;
    } while (elapsed < time.toNanos());
    return cycles * 1e9 / elapsed;
  }
}
