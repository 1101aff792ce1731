// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/** What many runs did, added up. Thread-safe. */
public final class Totals {
  private static final List<String> STATES = List.of("HELD", "AT_RISK", "LOST", "RELEASED");
  private static final List<String> PHASES = List.of("ASKING", "WAITING", "HELD", "ENDING", "OVER");

  private final Tally<Fault> faults = new Tally<>(Fault.class);
  private final long[] claimMoves = new long[PHASES.size() * PHASES.size()];
  private final long[] holdMoves = new long[STATES.size() * STATES.size()];
  private long runs;
  private long counted;
  private long operations;
  private long grants;
  private long events;
  private long steps;
  private long virtualNanos;

  /** Starts at nothing. */
  public Totals() {}

  /**
   * Adds a run.
   *
   * @param run what it did
   */
  public synchronized void add(Run run) {
    SimWorld world = run.world;
    runs++;
    counted += run.counts() ? 1 : 0;
    operations += world.operations;
    grants += world.grants;
    events += world.history.size();
    steps += world.steps;
    virtualNanos += world.now;
    faults.addAll(world.faults);
    add(claimMoves, world.claimMoves);
    add(holdMoves, world.holdMoves);
  }

  private static void add(long[] sums, long[] more) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += more[i];
    }
  }

  /**
   * Returns how many runs counted.
   *
   * @return those with four clients, four hundred operations and a fault that took effect
   */
  public synchronized long counted() {
    return counted;
  }

  /**
   * Returns how many operations callers have done.
   *
   * @return the sum over all runs
   */
  public synchronized long operations() {
    return operations;
  }

  /**
   * Returns how often a fault took effect.
   *
   * @param fault the kind
   * @return the sum over all runs
   */
  public synchronized long of(Fault fault) {
    return faults.of(fault);
  }

  /** Returns all of it in a few lines. */
  @Override
  public synchronized String toString() {
    List<String> lines = new ArrayList<>();
    lines.add(runs + " runs, " + counted + " of them count; " + operations + " operations, "
        + grants + " grants, " + events + " events of history, " + steps + " steps, "
        + virtualNanos / 1_000_000_000L + " s of virtual time");
    List<String> parts = new ArrayList<>();
    for (Fault fault : Fault.values()) {
      parts.add(fault + " " + faults.of(fault));
    }
    lines.add("faults: " + String.join(", ", parts));
    lines.add("claims: " + moves(claimMoves, PHASES));
    lines.add("holds: " + moves(holdMoves, STATES));
    return String.join("\n", lines);
  }

  private static String moves(long[] counts, List<String> names) {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        parts.add(
            names.get(i / names.size()) + "->" + names.get(i % names.size()) + " " + counts[i]);
      }
    }
    return String.join(", ", parts);
  }
}
