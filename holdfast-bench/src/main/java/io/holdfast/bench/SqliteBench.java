// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.measure.Contention;
import io.holdfast.measure.Loop;
import io.holdfast.measure.Samples;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** One SQLite file: against the plainest statements, and with threads that want one lock. */
final class SqliteBench {
  private static final String STORE = "SQLite";
  private static final String ONE_THREAD = "one thread";
  private static final int BATCH = 10;

  private SqliteBench() {}

  static List<Row> run(Scale scale, Path folder) throws Exception {
    try (PlainPair plain = new PlainPair(folder.resolve("plain.db"));
        Holdfast holdfast = Holdfast.connect("sqlite:" + folder.resolve("locks.db"))) {
      DistributedLock lock = holdfast.lock("order:42");
      Contention own = new Contention(IntStream.range(0, Compared.THREADS)
          .mapToObj(i -> Contention.of(holdfast.lock("order:" + i)))
          .toList());
      Contention shared =
          new Contention(Collections.nCopies(Compared.THREADS, Contention.of(lock)));
      Contention apart = new Contention(IntStream.range(0, Compared.THREADS)
          .mapToObj(i -> Contention.of(holdfast.lock("order:43", leaseOfItsOwn(i))))
          .toList());
      List<Samples> rates = Trials.interleaveWarm(
          scale,
          () -> Loop.perSecond(scale.trial(), BATCH, plain::run),
          () -> Loop.perSecond(scale.trial(), BATCH, () -> cycle(lock)),
          () -> own.perSecond(scale.trial()),
          () -> shared.perSecond(scale.trial()),
          () -> apart.perSecond(scale.trial()));
      Figure floor = Figure.of(Peers.FLOOR, rates.get(0));
      Figure ours = Figure.of(Peers.US, rates.get(1));
      return List.of(
          Row.now(STORE, Workload.UNCONTENDED, List.of(ours, floor)).atLeast(Peers.FLOOR, 0.8),
          Row.now(STORE, Workload.SEPARATE, List.of(Compared.figure(Peers.US, rates.get(2), own))),
          contended(Workload.SHARED, rates.get(3), shared, ours, 20),
          contended(Workload.APART, rates.get(4), apart, ours, 0.5));
    }
  }

  /** Holds pass on only to waiters that asked for the same lease. */
  private static LockOptions leaseOfItsOwn(int thread) {
    Duration lease = LockOptions.DEFAULT_LEASE.plusMillis(thread);
    return LockOptions.builder().leaseFor(lease).build();
  }

  private static Row contended(
      Workload workload, Samples rates, Contention threads, Figure alone, double bar) {
    Figure ours =
        Compared.figure(Peers.US, rates, threads).with(Figure.VIOLATIONS, threads.violations());
    return Row.now(STORE, workload, List.of(ours))
        .with(Bar.atLeast(ours.median() / alone.median(), ONE_THREAD, bar));
  }

  private static void cycle(DistributedLock lock) throws InterruptedException {
    Hold hold = lock.acquire();
    if (!hold.release()) {
      throw new IllegalStateException("the hold was not ours");
    }
  }
}
