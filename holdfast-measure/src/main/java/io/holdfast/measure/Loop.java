// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import io.holdfast.Ticker;
import java.time.Duration;

/** Does something again and again in one thread, and counts. */
public final class Loop {
  private static final Ticker TICKER = Ticker.system();

  /** One cycle, for example acquire and release. */
  @FunctionalInterface
  public interface Cycle {
    /**
     * Does it once.
     *
     * @throws Exception what ends the measurement
     */
    void run() throws Exception;
  }

  private Loop() {}

  /**
   * Measures for some time, and to the end of the batch that was begun.
   *
   * @param time for how long
   * @param batch cycles between two looks at the clock: so many that the look does not count
   * @param cycle what to do
   * @return cycles per second
   * @throws Exception what a cycle throws
   */
  public static double perSecond(Duration time, int batch, Cycle cycle) throws Exception {
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
