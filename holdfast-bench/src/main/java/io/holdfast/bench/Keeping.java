// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Many locks kept on a server, by processes that have nothing else to do. */
final class Keeping {
  private static final Duration LONGEST = Duration.ofMinutes(1);

  private Keeping() {}

  /** Each contender in a process of its own, one after the other; the last one is who ours is compared with. */
  static List<Row> rows(
      String store,
      int holds,
      Duration keep,
      Processes processes,
      List<String> peers,
      Processes.Counted counted)
      throws IOException {
    Duration time = keep.compareTo(LONGEST) > 0 ? LONGEST : keep;
    List<Figure> cpu = new ArrayList<>();
    List<Figure> heap = new ArrayList<>();
    for (String peer : peers) {
      Map<String, Long> before = counted.now();
      Processes.Kept kept = processes.keep(peer, holds, time);
      Figure figure =
          Figure.of(peer, kept.cpuSeconds()).with("s of it kept", time.toMillis() / 1e3);
      for (Map.Entry<String, Long> each : counted.now().entrySet()) {
        double asked = each.getValue() - before.getOrDefault(each.getKey(), 0L);
        figure = figure.with(each.getKey() + " a lock, with its acquisition", asked / holds);
      }
      cpu.add(figure.with(Figure.LOST, kept.lost()));
      heap.add(Figure.of(peer, (double) kept.bytes()));
    }
    long lost = (long) cpu.get(0).beside(Figure.LOST);
    Row keeping = Row.now(store, Workload.KEPT_CPU, holds, cpu)
        .with(new Bar("lost", "0", Long.toString(lost), lost == 0));
    Row bytes = Row.now(store, Workload.KEPT_HEAP, holds, heap);
    String last = peers.get(peers.size() - 1);
    return last.equals(Peers.US)
        ? List.of(keeping, bytes)
        : List.of(keeping.atMost(last, 1), bytes.atMost(last, 1));
  }
}
