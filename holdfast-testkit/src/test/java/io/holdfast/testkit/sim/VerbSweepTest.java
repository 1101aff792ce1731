// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static io.holdfast.testkit.sim.Scenario.A;
import static io.holdfast.testkit.sim.Scenario.B;
import static io.holdfast.testkit.sim.Scenario.C;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One thing goes wrong, at every message and at every step of a short story of each verb, fair and unfair. */
class VerbSweepTest {
  private static final long QUIET = 2_000;
  private static final List<Fault> OF_MESSAGES =
      List.of(Fault.LOST_REQUEST, Fault.LOST_REPLY, Fault.DUPLICATE, Fault.REFUSED, Fault.BROKEN);
  private static final List<Fault> OF_STEPS =
      List.of(Fault.INTERRUPT, Fault.PAUSE, Fault.SUSPEND, Fault.CRASH, Fault.CLOSE);

  /** Each begins with a lock that A has for 20 milliseconds. */
  enum Story {
    TRY {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, options), 20);
        hold(scene, scene.tryAcquire(5, B, options), 10);
        hold(scene, scene.tryAcquire(40, B, options), 10);
        hold(scene, scene.tryAcquire(40, C, options), 10);
      }
    },
    ACQUIRE {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.block(0, A, options), 20);
        hold(scene, scene.block(5, B, options), 10);
        hold(scene, scene.block(6, A, options), 10);
      }
    },
    TIMED_ACQUIRE {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, options), 20);
        hold(scene, scene.acquireWithin(10, 5, B, options), 10);
        hold(scene, scene.acquireWithin(300, 6, C, options), 10);
      }
    },
    ACQUIRE_AND_INTERRUPT {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        Ask interrupted = hold(scene, scene.block(5, B, options), 10);
        hold(scene, scene.acquire(0, A, options), 20);
        hold(scene, scene.acquire(6, C, options), 10);
        scene.cancel(24, interrupted);
      }
    },
    ASYNC_AND_CANCEL {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, options), 20);
        Ask cancelled = hold(scene, scene.acquire(5, B, options), 10);
        hold(scene, scene.acquire(6, B, options), 10);
        scene.cancel(24, cancelled);
      }
    },
    RENEW {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, options), 800);
        hold(scene, scene.acquire(700, B, options), 10);
      }
    },
    RELEASE {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, options), 20);
        hold(scene, scene.acquire(1, A, options), 20);
        hold(scene, scene.acquire(60, B, options), 10);
      }
    },
    RELEASE_NOW {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, atLeast(options)), 20).releasesNow = true;
        hold(scene, scene.acquire(5, B, options), 10);
      }
    },
    HOLD_AT_LEAST {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, atLeast(options)), 20);
        hold(scene, scene.acquire(5, B, atLeast(options)), 10);
      }
    },
    CLOSE {
      @Override
      void tell(Scene scene, UnaryOperator<LockOptions.Builder> options) {
        hold(scene, scene.acquire(0, A, options), 500);
        hold(scene, scene.acquire(5, B, options), 10);
        hold(scene, scene.acquire(6, C, options), 10);
        scene.close(15, B);
        scene.close(20, A);
      }
    };

    abstract void tell(Scene scene, UnaryOperator<LockOptions.Builder> options);

    private static Ask hold(Scene scene, Ask ask, long millis) {
      scene.releaseWhenHeldFor(millis, ask);
      return ask;
    }

    private static UnaryOperator<LockOptions.Builder> atLeast(
        UnaryOperator<LockOptions.Builder> options) {
      return more -> options.apply(more).holdAtLeast(Duration.ofMillis(100));
    }
  }

  /** Every message once: lost, answered in vain, doubled, refused, broken. */
  @ParameterizedTest
  @EnumSource
  void everyMessage_once(Story story) {
    forEveryWorld((queues, fair) -> {
      Telling right = new Telling(story, queues, fair);
      right.play(new OnceFates(null, 0), -1, world -> {});
      right.check("nothing");
      long messages = right.run().world.network.messages;
      assertTrue(messages >= 8, () -> story + " is too short: " + messages);
      for (Fault fault : OF_MESSAGES) {
        for (long at = 1; at <= messages; at++) {
          Telling telling = new Telling(story, queues, fair);
          telling.play(new OnceFates(fault, at), -1, world -> {});
          telling.check(fault + " at message " + at);
        }
      }
    });
  }

  /** Every step once: all callers interrupted or cancelled, a process stopped, asleep, dead, closed. */
  @ParameterizedTest
  @EnumSource
  void everyStep_once(Story story) {
    forEveryWorld((queues, fair) -> {
      Telling right = new Telling(story, queues, fair);
      right.play(new OnceFates(null, 0), -1, world -> {});
      for (Fault fault : OF_STEPS) {
        for (long at = 1; at < right.stepsToQuiet; at++) {
          Telling telling = new Telling(story, queues, fair);
          telling.play(new OnceFates(null, 0), at, world -> telling.happens(fault, world));
          telling.check(fault + " at step " + at);
        }
      }
    });
  }

  private interface World {
    void run(boolean queues, boolean fair);
  }

  private static void forEveryWorld(World work) {
    work.run(true, false);
    work.run(true, true);
    work.run(false, false);
    work.run(false, true);
  }

  /** One run of a story. */
  private static final class Telling {
    private final Story story;
    private final Setup setup = new Setup();
    private final boolean fair;
    private long stepsToQuiet;
    private @Nullable Scene scene;
    private @Nullable Run run;

    Telling(Story story, boolean queues, boolean fair) {
      this.story = story;
      this.fair = fair;
      setup.processes = 3;
      setup.actors = 0;
      setup.operations = 1;
      setup.queues = queues;
      setup.finality = queues ? Setup.Finality.TIME : Setup.Finality.EPOCH;
    }

    void play(Fates fates, long step, Consumer<SimWorld> what) {
      run = Run.scripted(setup, null, 1, fates, world -> {
        if (world.steps == 0) {
          begin(world);
        }
        if (world.steps == step) {
          what.accept(world);
        }
      });
    }

    private void begin(SimWorld world) {
      Scene made = new Scene(world, new ScriptedFates());
      scene = made;
      story.tell(made, options -> options.fair(fair));
      made.at(QUIET, () -> stepsToQuiet = world.steps);
      made.quiet(QUIET);
    }

    void happens(Fault fault, SimWorld world) {
      SimProcess first = world.processes.get(A);
      switch (fault) {
        case INTERRUPT -> java.util.Objects.requireNonNull(scene).cancelAll();
        case PAUSE -> first.pause(2 * setup.lease, false);
        case SUSPEND -> first.pause(2 * setup.lease, true);
        case CRASH -> first.crash();
        default -> first.close();
      }
    }

    Run run() {
      return java.util.Objects.requireNonNull(run);
    }

    void check(String what) {
      assertFalse(
          run().isBroken(),
          () -> story + (setup.queues ? ", with a queue" : "") + (fair ? ", fair, " : ", ") + what
              + ": " + run().report());
    }
  }
}
