// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;

/** What its holder believes in until a moment, and not beyond it: then the loss is told, once, to whoever looks. */
abstract class TimedGrip implements Grip {
  private final Ticker ticker;
  private final long untilNanos;
  private final Runnable onLost;
  private boolean told;

  TimedGrip(Ticker ticker, long untilNanos, Runnable onLost) {
    this.ticker = ticker;
    this.untilNanos = untilNanos;
    this.onLost = onLost;
  }

  @Override
  public final long token() {
    return 0;
  }

  @Override
  public final boolean isValid() {
    boolean valid = ticker.nanos() - untilNanos < 0;
    if (!valid && !told) {
      told = true;
      onLost.run();
    }
    return valid;
  }
}
