// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** One SQLite file: against the plainest statements, and with threads that want one lock. */
final class SqliteBench {
  private static final int BATCH = 10;
  private static final int THREADS = 16;

  private SqliteBench() {}

  static List<Row> run(Scale scale, Path folder) throws Exception {
    try (PlainPair plain = new PlainPair(folder.resolve("plain.db"));
        Holdfast holdfast = Holdfast.connect("sqlite:" + folder.resolve("locks.db"))) {
      DistributedLock lock = holdfast.lock("order:42");
      Contention shared = new Contention(
          IntStream.range(0, THREADS).mapToObj(i -> Contention.of(lock)).toList());
      Contention separate = new Contention(IntStream.range(0, THREADS)
          .mapToObj(i -> Contention.of(holdfast.lock("order:43", leaseOfItsOwn(i))))
          .toList());
      List<Samples> rates = Trials.interleave(
          scale,
          () -> Loop.perSecond(scale.trial(), BATCH, plain::run),
          () -> Loop.perSecond(scale.trial(), BATCH, () -> cycle(lock)),
          () -> shared.perSecond(scale.trial()),
          () -> separate.perSecond(scale.trial()));
      return List.of(
          uncontended(rates),
          contended("SQLite: 16 threads, one lock", "SQLite：16 个线程，一把锁", rates, 2, 20, shared),
          contended(
              "SQLite: the same without local hand-over",
              "SQLite：同上，但没有本地移交",
              rates,
              3,
              0.5,
              separate));
    }
  }

  /** Holds pass on only to waiters that asked for the same lease. */
  private static LockOptions leaseOfItsOwn(int thread) {
    Duration lease = LockOptions.DEFAULT_LEASE.plusMillis(thread);
    return LockOptions.builder().leaseFor(lease).build();
  }

  private static Row uncontended(List<Samples> rates) {
    double ratio = rates.get(1).median() / rates.get(0).median();
    return Row.now(
        "SQLite: acquire and release, uncontended, against two plain updates",
        "SQLite：无争用的获取与释放，对比两条普通更新语句",
        Row.spread(rates.get(1), "/s") + "; plain " + Row.spread(rates.get(0), "/s"),
        ">= 0.8",
        Row.text("%.2f", ratio),
        ratio >= 0.8);
  }

  private static Row contended(
      String name, String chinese, List<Samples> rates, int which, double bar, Contention threads) {
    double ratio = rates.get(which).median() / rates.get(1).median();
    Waits waits = threads.waits();
    String measured = Row.spread(rates.get(which), "/s")
        + Row.text(
            "; waits p50 %.0f us, p99 %.0f us, max %.1f ms; violations %d",
            waits.micros(0.5), waits.micros(0.99), waits.maxMicros() / 1e3, threads.violations());
    return Row.now(
        name,
        chinese,
        measured,
        Row.text(">= %s x one thread", bar == 0.5 ? "0.5" : "20"),
        Row.text("%.2f", ratio),
        ratio >= bar && threads.violations() == 0);
  }

  private static void cycle(DistributedLock lock) throws InterruptedException {
    Hold hold = lock.acquire();
    if (!hold.release()) {
      throw new IllegalStateException("the hold was not ours");
    }
  }
}
