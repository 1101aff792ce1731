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
  private static final int MOST_PERCENT = 2;
  private static final int MOST_BYTES = 1000;

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
    double share = (busy - idle) * 100;
    Figure cpu = Figure.of(Peers.US, share)
        .with("% before, for a quarter of the time", first * 100)
        .with("% without any", idle * 100)
        .with("s of it kept", scale.keep().toMillis() / 1e3)
        .with(Figure.LOST, lost);
    return List.of(
        Row.now("memory", Workload.KEPT_SHARE, holds, List.of(cpu))
            .with(new Bar(
                "CPU",
                Text.of("< %d %%, none lost", MOST_PERCENT),
                Text.of("%.2f %%, %d lost", share, lost),
                share < MOST_PERCENT && lost == 0)),
        Row.now("memory", Workload.KEPT_HEAP, holds, List.of(Figure.of(Peers.US, each)))
            .with(new Bar(
                "heap, with the store's own records",
                Text.of("< %,d B", MOST_BYTES),
                Text.of("%.0f B", each),
                each < MOST_BYTES)));
  }

  /** The part of one core that this process uses while nobody asks it for anything. */
  private static double coreShare(Duration time) throws InterruptedException {
    long cpu = Usage.cpuNanos();
    long begin = TICKER.nanos();
    CountDownLatch never = new CountDownLatch(1);
    if (never.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new IllegalStateException("no thread counts down");
    }
    return (Usage.cpuNanos() - cpu) / (double) (TICKER.nanos() - begin);
  }
}
