// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.engine.SystemTicker;
import java.util.Objects;

/** The local clocks, as an input, so that the very same code runs under a clock that a test moves. */
public interface Ticker {
  /**
   * Reads the monotonic clock.
   *
   * @return nanoseconds from an arbitrary origin; never goes back
   */
  long nanos();

  /**
   * Reads the wall clock. It decides nothing alone: see {@link Moment}.
   *
   * @return milliseconds since the epoch
   */
  long wallMillis();

  /**
   * Reads both clocks.
   *
   * @return the moment
   */
  default Moment now() {
    return new Moment(nanos(), wallMillis());
  }

  /**
   * Returns the time since a moment, by the clock that says more.
   *
   * @param moment an earlier reading
   * @return nanoseconds
   */
  default long elapsedNanos(Moment moment) {
    return Objects.requireNonNull(moment, "moment").elapsedNanos(nanos(), wallMillis());
  }

  /**
   * Returns the clocks of this machine.
   *
   * @return the default
   */
  static Ticker system() {
    return SystemTicker.INSTANCE;
  }
}
