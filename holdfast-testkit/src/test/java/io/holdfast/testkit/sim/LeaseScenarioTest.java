// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static io.holdfast.testkit.sim.Scenario.A;
import static io.holdfast.testkit.sim.Scenario.B;
import static io.holdfast.testkit.sim.Scenario.C;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long a holder may believe in its lease: never longer than the store. */
class LeaseScenarioTest {
  /** The answer of a grant takes its time: the lease has begun when the request was sent, not when that comes. */
  @Test
  void validity_countsFromTheRequest() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).replyTakes(250);
          scene.cut(255, A, 2_000);
          Ask slow = scene.acquire(0, A);
          scene.check(
              300, () -> assertThat(slow.hold().remaining()).isLessThan(Duration.ofMillis(700)));
          scene.quiet(4_000);
          scene.inTheEnd(() -> assertThat(scene.events(Kind.LOST)).hasSize(1));
        })
        .isStood()
        .catches(Flaw.ANCHOR_AT_REPLY);
  }

  /**
   * A waiter is stopped with the message of its grant in its socket: the grant counts from its own last request that was
   * answered "still queued", not from when it reads the message.
   */
  @Test
  void pushedGrant_countsFromTheLastRequest() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask waiter = scene.acquire(10, B);
          scene.pause(50, B, 500);
          scene.release(60, holder);
          scene.on(B, Message.KEEP).allUntil(2_000).isLost();
          scene.check(
              510, () -> assertThat(waiter.hold().remaining()).isLessThan(Duration.ofMillis(110)));
          scene.quiet(4_000);
          scene.inTheEnd(() -> assertThat(waiter.came()).isEqualTo(Kind.ACQUIRED));
        })
        .isStood()
        .catches(Flaw.PUSH_ANCHORED_AT_ARRIVAL);
  }

  /**
   * The message of a grant comes so late that the waiter's lease has ended and it waits anew, behind another: it is none
   * of the new wait's.
   */
  @Test
  void pushedGrant_ofAnEarlierWait() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask waiter = scene.acquire(10, B);
          scene.on(B, Message.PUSH).replyTakes(1_100);
          scene.on(B, Message.KEEP).allUntil(680).isLost();
          scene.release(50, holder);
          Ask next = scene.acquire(660, C);
          scene.release(1_800, next);
          scene.release(2_500, waiter);
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(next.cameAtMillis()).isLessThan(670);
            assertThat(waiter.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(waiter.cameAtMillis()).isGreaterThanOrEqualTo(1_800);
          });
        })
        .isStood()
        .catches(Flaw.STALE_PUSH_TAKEN);
  }

  /**
   * A waiter's time in the queue has ended when the lock becomes free, and it is told that it has it (etcd issue 11456):
   * a grant must not be answered without a look at the lease.
   */
  @Test
  void waiter_whoseTimeHasEndedInTheQueue() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask stopped = scene.acquire(10, B);
          Ask next = scene.acquire(20, C);
          scene.pause(30, B, 800);
          scene.release(650, holder);
          scene.release(2_000, next);
          scene.release(2_500, stopped);
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(next.cameAtMillis()).isLessThan(660);
            assertThat(stopped.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(stopped.cameAtMillis()).isGreaterThanOrEqualTo(2_000);
          });
        })
        .isStood()
        .catches(Flaw.EXPIRED_WAITER_IS_TOLD);
  }

  /** A laptop sleeps with the lock: the monotonic clock has not seen it, the wall clock has. */
  @Test
  void machine_sleeps() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.suspend(100, A, 5_000);
          Ask next = scene.acquire(200, B);
          scene.release(6_000, next);
          scene.quiet(7_000);
          scene.inTheEnd(() -> {
            assertThat(holder.hold().isValid()).isFalse();
            assertThat(scene.events(Kind.LOST)).hasSize(1);
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
          });
        })
        .isStood()
        .catches(Flaw.MONOTONIC_CLOCK_ONLY);
  }

  /** Somebody sets the wall clock back while the store cannot be reached: the lease ends all the same. */
  @Test
  void wallClock_isSetBack() {
    Scenario.of(setup -> setup.sleeps = false, scene -> {
          Ask holder = scene.acquire(0, A);
          scene.cut(100, A, 3_000);
          scene.at(200, () -> scene.process(A).clock.stepWall(-3 * Setup.SECOND));
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(holder.hold().isValid()).isFalse();
            assertThat(scene.events(Kind.LOST)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.WALL_CLOCK_ONLY);
  }

  /** The store's clock runs faster than the holder's: the margin is there for that. */
  @Test
  void clocks_runAtDifferentRates() {
    Scenario.of(
            setup -> {
              setup.lease = 10 * Setup.SECOND;
              setup.storeRate = 1.008;
            },
            scene -> {
              Ask holder = scene.acquire(0, A);
              scene.cut(100, A, 15_000);
              scene.quiet(16_000);
              scene.inTheEnd(() -> assertThat(holder.hold().isValid()).isFalse());
            })
        .isStood()
        .catches(Flaw.NO_MARGIN);
  }

  /** A store that keeps a lease a little shorter than it says takes it from a holder who cannot know. */
  @Test
  void lease_isNotRoundedDown() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.cut(100, A, 2_000);
          scene.quiet(3_000);
          scene.inTheEnd(() -> assertThat(holder.hold().isValid()).isFalse());
        })
        .isStood()
        .catches(Flaw.LEASE_ROUNDED_DOWN);
  }

  /** Renewals are not answered, because they never came: silence extends nothing. */
  @Test
  void renewals_areLost() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.on(A, Message.KEEP).allUntil(3_000).isLost();
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(holder.hold().isValid()).isFalse();
            assertThat(scene.events(Kind.LOST)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.UNKNOWN_RENEWAL_IS_YES)
        .catches(Flaw.CALLBACKS_TWICE);
  }

  /** A holder renews, once each third, and stops when it has released. */
  @Test
  void renewals_endWithTheRelease() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.release(1_500, holder);
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(scene.events(Kind.EXTENDED)).hasSizeBetween(4, 5);
            assertThat(holder.released).isTrue();
          });
        })
        .isStood()
        .catches(Flaw.RENEWAL_AFTER_RELEASE)
        .catches(Flaw.RENEWAL_SENT_TWICE);
  }

  /** Leases are judged by one clock, the store's: two machines five seconds apart exclude each other all the same. */
  @Test
  void wallClocks_areApart() {
    Scenario.of(scene -> {
          scene.at(0, () -> scene.process(B).clock.stepWall(8 * Setup.SECOND));
          Ask holder = scene.acquire(10, A);
          Ask next = scene.acquire(50, B);
          scene.release(300, holder);
          scene.release(500, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> assertThat(next.cameAtMillis()).isGreaterThanOrEqualTo(300));
        })
        .isStood()
        .catches(Flaw.EXPIRY_BY_CLIENT_CLOCK);
  }

  /** A holder dies: its lease ends, and the next one gets the lock. */
  @Test
  void holder_dies() {
    Scenario.of(scene -> {
          Ask unused = scene.acquire(0, A);
          scene.on(A, Message.KEEP).allUntil(100).isLost();
          scene.crash(100, A);
          Ask next = scene.acquire(200, B);
          scene.release(3_000, next);
          scene.quiet(300);
          scene.inTheEnd(() -> {
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isBetween(1_000L, 1_300L);
          });
        })
        .isStood()
        .catches(Flaw.NO_EXPIRY)
        .catches(Flaw.EXPIRE_IN_A_SECOND_REQUEST);
  }

  /** The wall clock is set forward by more than a lease: that looks like a sleep, so the hold is lost. False, but safe. */
  @Test
  void wallClock_isSetForward() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.at(100, () -> scene.process(A).clock.stepWall(5 * Setup.SECOND));
          scene.at(101, A, () -> holder.held().probe());
          scene.at(200, () -> scene.process(A).clock.stepWall(-5 * Setup.SECOND));
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(holder.hold().isValid()).isFalse();
            assertThat(scene.events(Kind.LOST)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.LOSS_NOT_TOLD);
  }

  /**
   * The store's clock steps forward while a waiter is stopped with its grant in its socket: no reading of the store's
   * clock enters into how long the grant is believed in.
   */
  @Test
  void storeClock_stepsForwardBeforeAPushedGrant() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask waiter = scene.acquire(10, B);
          scene.pause(50, B, 450);
          scene.on(B, Message.KEEP).allUntil(2_000).isLost();
          scene.at(60, () -> scene.world.server.step(300_000));
          scene.release(70, holder);
          scene.check(
              460, () -> assertThat(waiter.hold().remaining()).isLessThan(Duration.ofMillis(160)));
          scene.quiet(4_000);
          scene.inTheEnd(() -> assertThat(waiter.came()).isEqualTo(Kind.ACQUIRED));
        })
        .isStood();
  }
}
