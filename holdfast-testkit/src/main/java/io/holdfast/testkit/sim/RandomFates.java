// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Messages that fare as the seed has it. */
final class RandomFates implements Fates {
  private static final int MILLION = 1_000_000;

  private final SimWorld world;
  private final Setup setup;
  private final SplittableRandom random;

  RandomFates(SimWorld world, SplittableRandom random) {
    this.world = world;
    this.setup = world.setup;
    this.random = random;
  }

  @Override
  public long request(SimProcess from, Message message) {
    if (world.isQuiet()) {
      return usual();
    }
    if (from.isCut() || hits(Fault.LOST_REQUEST)) {
      world.count(from.isCut() ? Fault.CUT : Fault.LOST_REQUEST);
      return LOST;
    }
    if (message == Message.KEEP) {
      // it has no giveUpAt: what comes very late extends what nobody holds any more; see docs/decisions.md
      return usual() + Math.min(delay(), setup.requestTimeout * 2);
    }
    if (hits(Fault.LATE_ARRIVAL)) {
      return usual() + random.nextLong(setup.lease * 2);
    }
    return usual() + delay();
  }

  @Override
  public long again(SimProcess from, Message message) {
    if (world.isQuiet() || !hits(Fault.DUPLICATE)) {
      return NONE;
    }
    world.count(Fault.DUPLICATE);
    long latest = message == Message.KEEP ? setup.requestTimeout : setup.lease * 2;
    return random.nextBoolean() ? 0 : random.nextLong(latest);
  }

  @Override
  public long storeWait(SimProcess from, Message message) {
    if (world.isQuiet() || !hits(Fault.STORE_WAIT)) {
      return 0;
    }
    world.count(Fault.STORE_WAIT);
    return random.nextLong(setup.requestTimeout * 2);
  }

  @Override
  public long reply(SimProcess to, Message message) {
    if (world.isQuiet()) {
      return usual();
    }
    Fault loss = message == Message.PUSH ? Fault.LOST_PUSH : Fault.LOST_REPLY;
    if (to.isCut() || hits(loss)) {
      world.count(to.isCut() ? Fault.CUT : loss);
      return LOST;
    }
    return usual() + delay();
  }

  @Override
  public @Nullable Fault failure(SimProcess from, Message message) {
    if (world.isQuiet() || message == Message.WRITE) {
      return null;
    }
    if (hits(Fault.REFUSED)) {
      return Fault.REFUSED;
    }
    return hits(Fault.BROKEN) ? Fault.BROKEN : null;
  }

  private long usual() {
    return setup.latency / 2 + random.nextLong(setup.latency);
  }

  private long delay() {
    if (!hits(Fault.DELAY)) {
      return 0;
    }
    world.count(Fault.DELAY);
    return random.nextLong(setup.requestTimeout * 3);
  }

  private boolean hits(Fault fault) {
    int chance = setup.chance(fault);
    return chance > 0 && random.nextInt(MILLION) < chance;
  }
}
