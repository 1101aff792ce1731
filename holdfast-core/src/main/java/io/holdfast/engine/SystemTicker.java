// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.Ticker;

/** The clocks of this machine. The one place in the product that reads the wall clock. */
public enum SystemTicker implements Ticker {
  /** The only one. */
  INSTANCE;

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }
}
