// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.Map;
import java.util.SplittableRandom;

/**
 * The replica of the store: it hears of writes a while after they were answered, and takes the store's place when that
 * dies. Meanwhile nobody answers. The resource that a lock guards is somewhere else, and forgets nothing.
 */
final class SimReplica {
  private final SimWorld world;
  private final Failover how;
  private final SplittableRandom random;
  private Map<String, SimRow> heard = Map.of();

  SimReplica(SimWorld world, Failover how, SplittableRandom random) {
    this.world = world;
    this.how = how;
    this.random = random;
  }

  void begin() {
    hear();
    dieSoon();
  }

  /** Now and then it has everything that was written until a moment ago. */
  private void hear() {
    if (!world.server.isDown()) {
      Map<String, SimRow> now = world.server.copy();
      world.after(random.nextLong(2 * Setup.MILLI), () -> heard = now);
    }
    world.after(
        random.nextInt(4) == 0
            ? random.nextLong(world.setup.lease)
            : random.nextLong(20 * Setup.MILLI),
        this::hear);
  }

  private void dieSoon() {
    world.after(world.setup.lease / 2 + random.nextLong(4 * world.setup.lease), () -> {
      if (!world.isQuiet()) {
        die();
      }
    });
  }

  private void die() {
    long takes = 20 * Setup.MILLI + random.nextLong(world.setup.lease / 2);
    world.server.down(true);
    Map<String, SimRow> last = how == Failover.NOTHING_LOST ? world.server.copy() : heard;
    world.processes.stream()
        .filter(process -> !process.isDead() && !process.isClosing())
        .forEach(process -> process.cut(takes, random.nextInt(4) > 0));
    world.after(takes, () -> {
      long behind = random.nextLong(takes);
      if (how == Failover.WRITES_LOST_AND_CLOCK_BEHIND) {
        behind += takes + world.setup.lease;
      }
      world.server.become(last, behind / 1_000);
      world.server.down(false);
      dieSoon();
    });
  }
}
