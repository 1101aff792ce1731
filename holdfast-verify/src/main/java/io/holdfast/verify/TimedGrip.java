// SPDX-License-Identifier: Apache-2.0
package io.holdfast.verify;

import io.holdfast.Ticker;

/** What its holder believes in until a moment, and not beyond it: then the loss is told, once, to whoever looks. */
final class TimedGrip implements TextbookGrip {
  private final Ticker ticker;
  private final long untilNanos;
  private final Runnable onLost;
  private final Runnable giveBack;
  private boolean told;

  TimedGrip(Ticker ticker, long untilNanos, Runnable onLost, Runnable giveBack) {
    this.ticker = ticker;
    this.untilNanos = untilNanos;
    this.onLost = onLost;
    this.giveBack = giveBack;
  }

  @Override
  public long remainingNanos() {
    long remaining = untilNanos - ticker.nanos();
    if (remaining <= 0 && !told) {
      told = true;
      onLost.run();
    }
    return remaining;
  }

  @Override
  public void giveBack() {
    giveBack.run();
  }
}
