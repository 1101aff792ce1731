// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.testkit.history.Bounds;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** What a world is like: its store, its leases, its network, and how much goes wrong in it. Drawn from the seed. */
final class Setup {
  static final long MILLI = 1_000_000L;
  static final long SECOND = 1_000 * MILLI;

  /** How a store is sure that nothing of a claim can come any more. */
  enum Finality {
    /** By its clock, and giveUpAt. */
    TIME,
    /** By the client's epoch. */
    EPOCH
  }

  boolean queues = true;
  Finality finality = Finality.TIME;
  long lease = SECOND;
  long waiterLease = 600 * MILLI;
  long pollAtMost = 60 * MILLI;
  long requestTimeout = 300 * MILLI;
  long storeRetry = 3 * SECOND;
  long latency = MILLI;
  long retention = 20 * SECOND;
  int processes = 4;
  int actors = 2;
  int locks = 1;
  int operations = 400;
  double storeRate = 1;
  double maxDrift;
  /** Whether machines may sleep; else their wall clocks may be set back. Both at once is a declared exception. */
  boolean sleeps = true;

  boolean blocking = true;
  /** Chances in a million, by {@link Fault}: per message, per operation, or per second, as the fault is. */
  final Tally<Fault> chances = new Tally<>(Fault.class);

  /** A world in which nothing goes wrong. */
  Setup() {}

  static Setup draw(SplittableRandom random, @Nullable Flaw flaw) {
    Setup setup = new Setup();
    setup.queues = random.nextInt(10) < 6;
    setup.finality = random.nextInt(4) == 0 ? Finality.EPOCH : Finality.TIME;
    setup.lease = pick(random, 400, 700, 1_000, 1_500, 3_000, 10_000) * MILLI;
    // who waits renews with each third of it: where holds are long, most of the run would be that
    long stretched = setup.lease >= 3 * SECOND ? 4 : 1;
    setup.waiterLease = pick(random, 300, 600, 1_200) * stretched * MILLI;
    setup.pollAtMost = pick(random, 20, 60, 150) * MILLI;
    setup.requestTimeout = pick(random, 100, 200, 400) * MILLI;
    setup.latency = pick(random, 200, 1_000, 3_000) * 1_000;
    setup.actors = 1 + random.nextInt(3);
    setup.locks = 1 + random.nextInt(2);
    setup.maxDrift = random.nextBoolean() ? 0 : 0.004;
    setup.storeRate = 1 + (random.nextDouble() * 2 - 1) * setup.maxDrift;
    setup.sleeps = random.nextBoolean();
    setup.drawChances(random);
    Flaw.prepare(flaw, setup);
    return setup;
  }

  /** Few kinds of faults in one world, and those often enough to meet. */
  private void drawChances(SplittableRandom random) {
    for (Fault fault : Fault.values()) {
      int chance = random.nextInt(3) == 0 ? 0 : most(fault) * (1 + random.nextInt(10)) / 10;
      chances.set(fault, random.nextInt(5) < 2 ? chance : 0);
    }
  }

  static int most(Fault fault) {
    return switch (fault) {
      case LOST_REQUEST, LOST_REPLY, DUPLICATE, DELAY, STORE_WAIT -> 60_000;
      case LOST_PUSH -> 300_000;
      case REFUSED, BROKEN -> 30_000;
      case LATE_ARRIVAL -> 40_000;
      case CUT -> 150_000;
      case PAUSE, SUSPEND -> 200_000;
      case CRASH, CLOSE -> 60_000;
      case WALL_STEP -> 200_000;
      case STORE_STEP -> 80_000;
      case INTERRUPT, CANCEL -> 150_000;
      case DROP -> 60_000;
      case EVICT -> 100_000;
    };
  }

  static long pick(SplittableRandom random, long... values) {
    return values[random.nextInt(values.length)];
  }

  int chance(Fault fault) {
    return (int) chances.of(fault);
  }

  /** How long one request may take. */
  long requestNanos() {
    return Math.min(requestTimeout, lease / 3);
  }

  Bounds bounds() {
    long request = requestTimeout;
    return new Bounds(
        2 * waiterLease + pollAtMost + 2 * request + 100 * MILLI,
        waiterLease,
        2 * request + 1_500 * MILLI,
        SECOND + 50 * MILLI,
        2 * request + 50 * MILLI,
        // the first contact with the store has a time of its own
        2 * request + 30 * MILLI,
        finality == Finality.TIME);
  }
}
