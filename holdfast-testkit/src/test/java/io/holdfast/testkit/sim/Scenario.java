// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.history.Violation;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A scripted run: nothing in it is left to chance. The right protocol stands it; one that is wrong by one change breaks
 * its own invariant in the very same script.
 */
final class Scenario {
  /** The processes. */
  static final int A = 0;

  static final int B = 1;
  static final int C = 2;

  private final Consumer<Setup> world;
  private final Consumer<Scene> script;

  private Scenario(Consumer<Setup> world, Consumer<Scene> script) {
    this.world = world;
    this.script = script;
  }

  /** A story in a world with a queue, where leases last a second and a waiter's 600 milliseconds. */
  static Scenario of(Consumer<Scene> script) {
    return of(setup -> {}, script);
  }

  static Scenario of(Consumer<Setup> world, Consumer<Scene> script) {
    return new Scenario(world, script);
  }

  private Scene[] play(@Nullable Flaw flaw, Consumer<Setup> more, Run[] run) {
    Setup setup = new Setup();
    setup.processes = 3;
    setup.actors = 0;
    setup.operations = 1;
    world.accept(setup);
    more.accept(setup);
    ScriptedFates fates = new ScriptedFates();
    Scene[] scene = new Scene[1];
    run[0] = Run.scripted(setup, flaw, 1, fates, made -> {
      if (made.steps == 0) {
        scene[0] = new Scene(made, fates);
        script.accept(scene[0]);
      }
    });
    return scene;
  }

  /** The right protocol breaks nothing, and all that the script demands is true. */
  Scenario isStood() {
    Run[] run = new Run[1];
    Scene scene = play(null, setup -> {}, run)[0];
    assertThat(run[0].isBroken()).as(() -> run[0].report()).isFalse();
    scene.checkEnd();
    return this;
  }

  /** The flawed protocol breaks the invariant that it is known by. */
  Scenario catches(Flaw flaw) {
    return catches(flaw, setup -> {});
  }

  Scenario catches(Flaw flaw, Consumer<Setup> more) {
    Run[] run = new Run[1];
    play(flaw, more, run);
    assertThat(run[0].violations())
        .as(() -> flaw + " is to break " + flaw.caughtBy() + ": " + run[0].report())
        .extracting(Violation::invariant)
        .contains(flaw.caughtBy());
    return this;
  }
}
