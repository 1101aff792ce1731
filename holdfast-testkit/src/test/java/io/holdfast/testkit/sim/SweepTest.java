// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One thing goes wrong, at every point at which it can: a short story is played once to count its messages and its
 * steps, and then once for each of them.
 */
class SweepTest {
  private static final int STORIES = 6;

  /** Every message once: lost, answered in vain, doubled, refused, broken. */
  @ParameterizedTest
  @EnumSource(names = {"LOST_REQUEST", "LOST_REPLY", "DUPLICATE", "REFUSED", "BROKEN"})
  void everyMessage_once(Fault fault) {
    for (int story = 0; story < STORIES; story++) {
      long messages = play(story, null, 0, -1, world -> {}).world.network.messages;
      assertTrue(messages > 50, "too short a story");
      for (long at = 1; at <= messages; at++) {
        check(play(story, fault, at, -1, world -> {}), fault + " at message " + at, story);
      }
    }
  }

  /** Every step once: all callers interrupted or cancelled, a process stopped, asleep, dead, closed. */
  @ParameterizedTest
  @EnumSource(names = {"INTERRUPT", "PAUSE", "SUSPEND", "CRASH", "CLOSE"})
  void everyStep_once(Fault fault) {
    for (int story = 0; story < STORIES; story++) {
      long steps = play(story, null, 0, -1, world -> {}).world.steps;
      for (long at = 1; at < steps; at++) {
        check(play(story, null, 0, at, world -> happens(fault, world)), fault + " at " + at, story);
      }
    }
  }

  private static void happens(Fault fault, SimWorld world) {
    SimProcess first = world.processes.get(0);
    switch (fault) {
      case INTERRUPT ->
        world.processes.forEach(process -> process.actors.forEach(SimActor::disturb));
      case PAUSE -> first.pause(2 * world.setup.lease, false);
      case SUSPEND -> first.pause(2 * world.setup.lease, true);
      case CRASH -> first.crash();
      default -> first.close();
    }
  }

  private static Run play(
      int story, @Nullable Fault fault, long at, long step, Consumer<SimWorld> what) {
    Setup setup = new Setup();
    setup.processes = 2;
    setup.operations = 16;
    setup.queues = story % 2 == 0;
    setup.finality = story % 3 == 0 ? Setup.Finality.EPOCH : Setup.Finality.TIME;
    return Run.scripted(setup, null, story, new OnceFates(fault, at), world -> {
      if (world.steps == step) {
        what.accept(world);
      }
    });
  }

  private static void check(Run run, String what, int story) {
    assertFalse(run.isBroken(), () -> "story " + story + ", " + what + ": " + run.report());
  }
}
