// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs seeds and prints what happened: {@code SEED [FLAW]} prints the whole history, {@code FIRST..LAST [FLAW]} the sums
 * and what was broken.
 */
public final class Simulate {
  private static final int MOST_SAID = 10;

  private Simulate() {}

  /**
   * Runs.
   *
   * @param args a seed or a range of seeds, and a {@link Flaw}
   * @throws InterruptedException if it is interrupted: what runs is not waited for
   */
  public static void main(String[] args) throws InterruptedException {
    PrintStream out = System.out;
    Flaw flaw = args.length > 1 ? Flaw.valueOf(args[1]) : null;
    String[] range = args[0].split("\\.\\.", -1);
    if (range.length == 1) {
      one(Long.parseLong(range[0]), flaw, out);
    } else {
      many(Long.parseLong(range[0]), Long.parseLong(range[1]), flaw, out);
    }
  }

  private static void one(long seed, @Nullable Flaw flaw, PrintStream out) {
    Run run = Run.of(seed, flaw, out::println);
    out.println(run.report());
  }

  private static void many(long first, long last, @Nullable Flaw flaw, PrintStream out)
      throws InterruptedException {
    AtomicLong broken = new AtomicLong();
    Totals totals = range(first, last, flaw, run -> {
      if (broken.incrementAndGet() <= MOST_SAID) {
        out.println(run.report());
      }
      return true;
    });
    out.println(totals);
    out.println(broken + " seeds broke an invariant");
  }

  /**
   * Runs all seeds of a range, on as many threads as there are processors.
   *
   * @param first the first seed
   * @param last the one after the last
   * @param flaw what is wrong with the protocol; null for the right one
   * @param broken is told of each run that broke something, on the thread that ran it, and says whether to go on
   * @return what all of them did
   * @throws InterruptedException if the thread is interrupted; the others go on to the end of the range
   */
  public static Totals range(long first, long last, @Nullable Flaw flaw, Predicate<Run> broken)
      throws InterruptedException {
    Totals totals = new Totals();
    AtomicLong next = new AtomicLong(first);
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      Thread worker = new Thread(
          () -> {
            for (long seed = next.getAndIncrement(); seed < last; seed = next.getAndIncrement()) {
              Run run = Run.of(seed, flaw);
              totals.add(run);
              if (run.isBroken() && !broken.test(run)) {
                next.set(last);
              }
            }
          },
          "simulator-" + i);
      worker.setDaemon(true);
      worker.start();
      workers.add(worker);
    }
    for (Thread worker : workers) {
      worker.join();
    }
    return totals;
  }
}
