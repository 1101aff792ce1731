// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.io.PrintStream;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Runs seeds and prints what happened: {@code SEED [FLAW]} prints the whole history, {@code FIRST..LAST [FLAW]} the sums
 * and what was broken.
 */
public final class Simulate {
  /** What the engine logs is of no interest here, and is a lot. Held, for a logger that is not forgets its level. */
  private static final Logger ENGINE = Logger.getLogger("io.holdfast");

  private Simulate() {}

  /** Keeps the engine from logging: runs are judged by their histories. */
  public static void silenceEngine() {
    ENGINE.setLevel(Level.OFF);
  }

  /**
   * Runs.
   *
   * @param args a seed or a range of seeds, and a {@link Flaw}
   */
  public static void main(String[] args) {
    silenceEngine();
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

  private static void many(long first, long last, @Nullable Flaw flaw, PrintStream out) {
    Totals totals = new Totals();
    int broken = 0;
    for (long seed = first; seed < last; seed++) {
      Run run = Run.of(seed, flaw);
      totals.add(run);
      if (run.isBroken() && ++broken <= 10) {
        out.println(run.report());
      }
    }
    out.println(totals);
    out.println(broken + " seeds broke an invariant");
  }
}
