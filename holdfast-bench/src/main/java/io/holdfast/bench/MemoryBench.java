// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import java.util.List;

/** What the engine itself costs: the store is a map in the same process. */
final class MemoryBench {
  private static final int BATCH = 1000;

  private MemoryBench() {}

  static List<Row> run(Scale scale) throws Exception {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      DistributedLock lock = holdfast.lock("order:42");
      Samples nanos = Trials.interleave(
              scale, () -> 1e9 / Loop.perSecond(scale.trial(), BATCH, () -> cycle(lock)))
          .get(0);
      return List.of(Row.now(
          "memory: acquire and release, uncontended",
          "memory：无争用的获取与释放",
          Row.spread(nanos, "ns"),
          "< 1,000 ns",
          Row.text("%.0f ns", nanos.median()),
          nanos.median() < 1000));
    }
  }

  private static void cycle(DistributedLock lock) throws InterruptedException {
    Hold hold = lock.acquire();
    if (!hold.release()) {
      throw new IllegalStateException("the hold was not ours");
    }
  }
}
