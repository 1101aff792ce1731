// SPDX-License-Identifier: Apache-2.0
package io.holdfast.measure;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * What one workload has given.
 *
 * @param workload what was done
 * @param perSecond cycles per second of all threads together, a sample for each trial; empty where the length of a turn
 *     decides, and not the lock
 * @param waits how long it took from asking for the lock to having it; or, of a lock that is handed over, from the release
 *     to the next grant; empty where nobody asks the store
 * @param cycles how often a lock was had in the trials
 * @param violations how often two had it at once; empty where nobody could
 */
public record Result(
    String workload,
    Optional<Samples> perSecond,
    Waits waits,
    long cycles,
    OptionalLong violations) {
  /**
   * Returns what half of the waits, or another part of them, were not longer than.
   *
   * @param part from 0 to 1
   * @return milliseconds, or empty where nothing was waited for
   */
  public OptionalDouble millis(double part) {
    double micros = waits.micros(part);
    return micros > 0 ? OptionalDouble.of(micros / 1e3) : OptionalDouble.empty();
  }

  /**
   * Returns the longest wait.
   *
   * @return milliseconds, or empty where nothing was waited for
   */
  public OptionalDouble maxMillis() {
    double micros = waits.maxMicros();
    return micros > 0 ? OptionalDouble.of(micros / 1e3) : OptionalDouble.empty();
  }
}
