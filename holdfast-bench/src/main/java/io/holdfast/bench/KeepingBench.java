// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Many holds kept at once. The store is in the same process, so that its work and its records count, too. */
final class KeepingBench {
  private static final Ticker TICKER = Ticker.system();

  private KeepingBench() {}

  static List<Row> run(Scale scale) throws Exception {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      holdfast.lock("warm").acquire().close();
      Hold[] holds = new Hold[scale.holds()];
      double idle = coreShare(scale.keep().dividedBy(8));
      long before = Usage.usedAfterFullCollection();
      for (int i = 0; i < holds.length; i++) {
        holds[i] = holdfast.lock("order:" + i).acquire().detach();
      }
      double each = (Usage.usedAfterFullCollection() - before) / (double) holds.length;
      // the compiler has its turn first: what counts is what a service pays day after day
      double first = coreShare(scale.keep().dividedBy(4));
      double busy = coreShare(scale.keep());
      int lost = 0;
      for (Hold hold : holds) {
        lost += hold.isValid() ? 0 : 1;
      }
      for (Hold hold : holds) {
        hold.release();
      }
      return rows(scale, holds.length, idle, first, busy, each, lost);
    }
  }

  private static List<Row> rows(
      Scale scale, int holds, double idle, double first, double busy, double each, int lost) {
    String kept = Row.text("%,d", holds);
    double share = (busy - idle) * 100;
    return List.of(
        Row.now(
            kept + " holds kept: CPU",
            "保持 " + kept + " 个持有：CPU",
            Row.text(
                "%.2f %% of a core for %d s (%.2f %% in the %d s before), idle %.2f %%; lost %d",
                busy * 100,
                scale.keep().toSeconds(),
                first * 100,
                scale.keep().dividedBy(4).toSeconds(),
                idle * 100,
                lost),
            "< 2 % of a core, none lost",
            Row.text("%.2f %%, %d lost", share, lost),
            share < 2 && lost == 0),
        Row.now(
            kept + " holds kept: heap",
            "保持 " + kept + " 个持有：堆",
            Row.text("%.0f B each, with the store's own records", each),
            "< 1,000 B",
            Row.text("%.0f B", each),
            each < 1000));
  }

  /** The part of one core that this process uses while nobody asks it for anything. */
  private static double coreShare(Duration time) throws InterruptedException {
    long cpu = Usage.cpuNanos();
    long begin = TICKER.nanos();
    CountDownLatch never = new CountDownLatch(1);
    if (never.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new IllegalStateException("nobody counts down");
    }
    return (Usage.cpuNanos() - cpu) / (double) (TICKER.nanos() - begin);
  }
}
