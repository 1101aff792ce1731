// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.measure.Contention;
import io.holdfast.measure.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** How throughput and waits change with the number of those who want one lock, and with the number of locks. */
final class Growth {
  private Growth() {}

  /** Threads of up to four processes want one lock. */
  static List<Row> byWaiters(String store, Scale scale, Processes processes, List<String> peers)
      throws IOException {
    List<Row> rows = new ArrayList<>();
    for (int waiters : scale.waiters()) {
      int among = Math.min(Processes.PROCESSES, waiters);
      rows.add(Row.now(
          store,
          Workload.WAITERS,
          waiters,
          processes.contend(
              scale.growth(), peers, among, waiters / among, Processes.Counted.NOTHING)));
    }
    return rows;
  }

  /** 16 threads share out so many locks: one for all, one each, or several each in turn. */
  static List<Row> byLocks(String store, Scale scale, Peers peers, List<String> names)
      throws Exception {
    List<Row> rows = new ArrayList<>();
    for (int locks : scale.locks()) {
      List<Contention> contentions = new ArrayList<>();
      for (String name : names) {
        contentions.add(new Contention(IntStream.range(0, Compared.THREADS)
            .mapToObj(thread -> inTurn(peers.get(name), locks, thread))
            .toList()));
      }
      List<Samples> rates = Trials.interleave(scale.growth(), Compared.turns(scale, contentions));
      rows.add(Row.now(
          store,
          Workload.LOCKS,
          locks,
          IntStream.range(0, names.size())
              .mapToObj(i -> figure(names.get(i), rates.get(i), contentions.get(i), locks))
              .toList()));
    }
    return rows;
  }

  private static Figure figure(String name, Samples rates, Contention contention, int locks) {
    Figure figure = Compared.figure(name, rates, contention);
    // with several locks several threads may be inside
    return locks > 1 ? figure : figure.with(Figure.VIOLATIONS, contention.violations());
  }

  /** A thread's locks, one after the other. */
  private static Contention.Guard inTurn(Peer peer, int locks, int thread) {
    int own = Math.max(1, locks / Compared.THREADS);
    List<Contention.Guard> guards = IntStream.range(0, own)
        .mapToObj(i -> peer.lock("of " + locks + ": " + (thread * own + i) % locks))
        .toList();
    int[] next = {0};
    return inside -> guards.get(next[0]++ % own).run(inside);
  }
}
