// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.measure.Loop;
import io.holdfast.measure.Samples;
import java.util.List;

/** What the engine itself costs: the store is a map in the same process. */
final class MemoryBench {
  private static final String STORE = "memory";
  private static final int BATCH = 1000;
  private static final int MOST_NANOS = 1000;

  private MemoryBench() {}

  static List<Row> run(Scale scale) throws Exception {
    try (Holdfast holdfast = Holdfast.connect("memory:")) {
      DistributedLock lock = holdfast.lock("order:42");
      Samples rate = Trials.interleaveWarm(
              scale, () -> Loop.perSecond(scale.trial(), BATCH, () -> cycle(lock)))
          .get(0);
      double nanos = 1e9 / rate.median();
      Row alone = Row.now(STORE, Workload.UNCONTENDED, List.of(Figure.of(Peers.US, rate)))
          .with(new Bar(
              "a cycle",
              Text.of("< %,d ns", MOST_NANOS),
              Text.of("%,.0f ns", nanos),
              nanos < MOST_NANOS));
      return List.of(alone, shared(scale));
    }
  }

  private static Row shared(Scale scale) throws Exception {
    try (Peers peers = new Peers()) {
      peers.add(Peers.US, () -> new HoldfastPeer("memory:"));
      return Row.now(
          STORE, Workload.SHARED, Compared.shared(scale.warm(), peers, List.of(Peers.US)));
    }
  }

  private static void cycle(DistributedLock lock) throws InterruptedException {
    Hold hold = lock.acquire();
    if (!hold.release()) {
      throw new IllegalStateException("the hold was not ours");
    }
  }
}
