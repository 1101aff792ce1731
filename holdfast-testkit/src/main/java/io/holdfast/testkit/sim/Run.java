// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.Invariant;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.history.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One run of a world, from its seed: first with faults, until enough has been done; then without, until everything is at
 * rest; then it is judged.
 */
public final class Run {
  /** Whether the thread runs a simulation. */
  private static final ThreadLocal<Boolean> SIMULATING = ThreadLocal.withInitial(() -> false);

  /** Held: a logger that is not forgets its filter. */
  private static final Logger ENGINE = Logger.getLogger("io.holdfast");

  static {
    // Runs are judged by their histories, and the engine warns of each loss in them. That a step of its own failed is told.
    ENGINE.setFilter(
        line -> line.getLevel().intValue() >= Level.SEVERE.intValue() || !SIMULATING.get());
  }

  private static final long FAULTY_AT_MOST = 600 * Setup.SECOND;
  private static final long STEPS_AT_MOST = 5_000_000;
  private static final long QUIET_AT_MOST = 60 * Setup.SECOND;

  /** Plus this many leases: the last twenty in a queue may each keep the lock for half of one. */
  private static final int QUIET_LEASES = 12;

  final SimWorld world;
  private final long seed;
  private final @Nullable Flaw flaw;
  private List<Violation> violations = List.of();
  private @Nullable RuntimeException failure;
  private @Nullable Consumer<SimWorld> script;
  private @Nullable Failover failover;

  private Run(long seed, @Nullable Flaw flaw) {
    this.seed = seed;
    this.flaw = flaw;
    SplittableRandom random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + 1);
    this.world = new SimWorld(Setup.draw(random, flaw), flaw, random, null);
  }

  private Run(SimWorld world, long seed) {
    this.world = world;
    this.seed = seed;
    this.flaw = world.flaw;
  }

  /**
   * Runs a world in which nothing goes wrong but what is scripted.
   *
   * @param fates what becomes of messages
   * @param script is called before every step, the first of them included
   */
  static Run scripted(
      Setup setup, @Nullable Flaw flaw, long seed, Fates fates, Consumer<SimWorld> script) {
    Run run = new Run(new SimWorld(setup, flaw, new SplittableRandom(seed), fates), seed);
    run.script = script;
    run.runAll();
    return run;
  }

  /**
   * Runs a seed with the right protocol.
   *
   * @param seed decides everything
   * @return what came of it
   */
  public static Run of(long seed) {
    return of(seed, null);
  }

  /**
   * Runs a seed.
   *
   * @param seed decides everything
   * @param flaw what is wrong with the protocol; null for the right one
   * @return what came of it
   */
  public static Run of(long seed, @Nullable Flaw flaw) {
    return of(seed, flaw, null);
  }

  static Run of(long seed, @Nullable Flaw flaw, @Nullable Consumer<String> trace) {
    Run run = new Run(seed, flaw);
    run.world.trace = trace;
    run.runAll();
    return run;
  }

  /**
   * Runs a seed in a world whose store dies again and again, and whose replica takes its place.
   *
   * @param seed decides everything
   * @param how what the replica knows then
   * @param flaw what is wrong with the protocol; null for the right one
   * @return what came of it
   */
  public static Run replicated(long seed, Failover how, @Nullable Flaw flaw) {
    Run run = new Run(seed, flaw);
    run.failover = how;
    run.world.setup.chances.set(Fault.STORE_STEP, 0);
    run.world.setup.operations /= 2;
    run.runAll();
    return run;
  }

  private void runAll() {
    SIMULATING.set(true);
    try {
      play();
    } catch (RuntimeException e) {
      failure = e;
    } finally {
      SIMULATING.remove();
    }
    world.record(Kind.END, -1, "", "", "", 0, 0, 0);
    violations = Invariant.all(history());
    world.end();
  }

  private void play() {
    for (int i = 0; i < world.setup.processes; i++) {
      world.start().actors.forEach(SimActor::start);
    }
    new Weather(world, world.random.split()).begin();
    Failover how = failover;
    if (how != null) {
      new SimReplica(world, how, world.random.split()).begin();
    }
    boolean more = true;
    while (more && world.operations < world.setup.operations && world.now < FAULTY_AT_MOST) {
      more = step();
    }
    world.beQuiet();
    long cap = world.now + QUIET_AT_MOST + QUIET_LEASES * world.setup.lease;
    while (more && world.now < cap) {
      more = step();
    }
  }

  private boolean step() {
    if (world.steps > STEPS_AT_MOST) {
      throw new IllegalStateException("time stands still");
    }
    Consumer<SimWorld> scripted = script;
    if (scripted != null) {
      scripted.accept(world);
    }
    return world.step();
  }

  /**
   * Returns what happened.
   *
   * @return the history, in the store's order
   */
  public History history() {
    return new History(world.history, world.setup.bounds());
  }

  /**
   * Returns which invariants the run broke.
   *
   * @return where; empty if all hold
   */
  public List<Violation> violations() {
    return violations;
  }

  /**
   * Says whether anything is wrong: an invariant, or the run itself, which threw.
   *
   * @return false for a good run
   */
  public boolean isBroken() {
    return failure != null || !violations.isEmpty();
  }

  /**
   * Says whether the run counts: four clients, four hundred operations, and a fault that took effect.
   *
   * @return false if it proves too little
   */
  public boolean counts() {
    return world.processes.size() >= 4
        && world.operations >= world.setup.operations
        && world.faults.sum() > 0;
  }

  /**
   * Returns the command that runs the seed again and shows its history.
   *
   * @return for a shell, in the project's folder
   */
  public String command() {
    return "dev/simulate " + seed + (flaw == null ? "" : " " + flaw);
  }

  /**
   * Says what went wrong, with the command that shows it again.
   *
   * @return for people
   */
  public String report() {
    List<String> lines = new ArrayList<>();
    lines.add("seed " + seed + (flaw == null ? "" : " with " + flaw) + ": " + command());
    if (failure != null) {
      lines.add("  " + failure);
    }
    violations.stream().limit(5).forEach(violation -> lines.add("  " + violation));
    return String.join("\n", lines);
  }
}
