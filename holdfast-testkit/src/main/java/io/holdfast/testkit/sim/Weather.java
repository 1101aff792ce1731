// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.List;
import java.util.SplittableRandom;

/** What happens to processes and clocks, from time to time, until the world is quiet. */
final class Weather {
  private static final int MILLION = 1_000_000;
  private static final long BACK_AT_MOST = 3 * Setup.SECOND;

  private final SimWorld world;
  private final SplittableRandom random;
  private final long every;

  Weather(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.random = random;
    this.every = Math.max(50 * Setup.MILLI, world.setup.lease / 4);
  }

  void begin() {
    world.after(every, this::tick);
  }

  private void tick() {
    if (world.isQuiet()) {
      return;
    }
    Setup setup = world.setup;
    for (SimProcess process : List.copyOf(world.processes)) {
      if (!process.isDead() && !process.isClosing()) {
        over(process);
      }
    }
    if (hits(Fault.STORE_STEP)) {
      long by =
          random.nextBoolean() ? random.nextLong(setup.lease * 2) : -random.nextLong(BACK_AT_MOST);
      world.server.step(by / 1_000);
    }
    if (hits(Fault.EVICT)) {
      evict("lock-" + random.nextInt(setup.locks));
    }
    world.after(every / 2 + random.nextLong(every), this::tick);
  }

  private void over(SimProcess process) {
    Setup setup = world.setup;
    if (hits(Fault.PAUSE)) {
      process.pause(howLong(), false);
    } else if (setup.sleeps && hits(Fault.SUSPEND)) {
      process.pause(howLong(), true);
    } else if (hits(Fault.CUT)) {
      process.cut(howLong(), random.nextBoolean());
    } else if (hits(Fault.CRASH)) {
      process.crash();
      another();
    } else if (hits(Fault.CLOSE)) {
      closeSoon(process);
    } else if (hits(Fault.WALL_STEP)) {
      stepWall(process);
    }
  }

  private void stepWall(SimProcess process) {
    long by = random.nextLong(world.setup.lease * 2);
    boolean back = !world.setup.sleeps && random.nextInt(3) > 0;
    process.clock.stepWall(back ? -by : by / 2);
    world.count(Fault.WALL_STEP);
  }

  private void closeSoon(SimProcess process) {
    process.after(0, () -> {
      world.operations++;
      world.count(Fault.CLOSE);
      process.close();
    });
    another();
  }

  private void another() {
    world.after(random.nextLong(world.setup.lease), () -> {
      if (!world.isQuiet()) {
        world.start().actors.forEach(SimActor::start);
      }
    });
  }

  /** An operator looks, thinks, and ends what was seen. */
  private void evict(String lock) {
    long seen = world.server.seen(lock);
    if (seen > 0) {
      world.after(random.nextLong(world.setup.lease), () -> world.server.evict(lock, seen));
    }
  }

  private long howLong() {
    return random.nextInt(3) == 0
        ? random.nextLong(world.setup.lease * 3)
        : random.nextLong(world.setup.lease / 2);
  }

  private boolean hits(Fault fault) {
    int chance = world.setup.chance(fault);
    return chance > 0 && random.nextInt(MILLION) < chance;
  }
}
