// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static io.holdfast.testkit.sim.Scenario.A;
import static io.holdfast.testkit.sim.Scenario.B;
import static io.holdfast.testkit.sim.Scenario.C;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whoever waits is woken, in time and in turn, whatever is lost and whoever dies. */
class WaitingScenarioTest {
  /** Nobody looks again within the time of the run. */
  private static void noSecondLook(Setup setup) {
    setup.waiterLease = 3_600 * Setup.SECOND;
  }

  /** The message that the lock is free is lost, on a store whose waiters look again. */
  @Test
  void notification_isLost() {
    Scenario.of(setup -> setup.queues = false, scene -> {
          Ask holder = scene.acquire(0, A);
          Ask waiter = scene.acquire(10, B);
          scene.on(B, Message.PUSH).replyIsLost();
          scene.release(100, holder);
          scene.release(1_000, waiter);
          scene.quiet(120);
          scene.inTheEnd(() -> {
            assertThat(waiter.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(waiter.cameAtMillis()).as("found by a look").isBetween(103L, 320L);
          });
        })
        .isStood()
        .catches(Flaw.NO_POLL, WaitingScenarioTest::noSecondLook);
  }

  /** The message that tells a waiter of its grant is lost: its next refresh finds the grant, before its end. */
  @Test
  void messageOfAGrant_isLost() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask waiter = scene.acquire(10, B);
          scene.on(B, Message.PUSH).replyIsLost();
          scene.release(100, holder);
          scene.release(1_000, waiter);
          scene.quiet(120);
          scene.inTheEnd(() -> {
            assertThat(waiter.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(waiter.cameAtMillis()).isBetween(103L, 320L);
            assertThat(scene.events(Kind.GRANTED)).hasSize(2);
          });
        })
        .isStood()
        .catches(Flaw.NO_POLL, WaitingScenarioTest::noSecondLook);
  }

  /** The lock becomes free between the look at it and the subscription. */
  @Test
  void release_betweenTheLookAndTheSubscription() {
    Scenario.of(setup -> setup.queues = false, scene -> {
          Ask holder = scene.acquire(0, A);
          Ask waiter = scene.acquire(10, B);
          scene.release(13, holder);
          scene.release(1_000, waiter);
          scene.quiet(20);
          scene.inTheEnd(() -> {
            assertThat(waiter.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(waiter.cameAtMillis()).isLessThan(20);
          });
        })
        .isStood()
        .catches(Flaw.SUBSCRIBED_AFTER_THE_CHECK, WaitingScenarioTest::noSecondLook);
  }

  /** The lock is handed to a waiter that has just died: that costs the waiter's short lease, not the whole one. */
  @Test
  void waiter_hasDied() {
    Scenario.of(setup -> setup.lease = 10 * Setup.SECOND, scene -> {
          Ask holder = scene.acquire(0, A);
          Ask dead = scene.acquire(10, B);
          Ask next = scene.acquire(20, C);
          scene.crash(30, B);
          scene.release(40, holder);
          scene.release(12_000, next);
          scene.quiet(50);
          scene.inTheEnd(() -> {
            assertThat(dead.came()).isNull();
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isBetween(640L, 900L);
          });
        })
        .isStood()
        .catches(Flaw.PUSH_HAS_THE_WHOLE_LEASE);
  }

  /** Those who asked for fairness are served in the order of their arrival, repeated requests or not. */
  @Test
  void fairWaiters_areServedInOrder() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A, options -> options.fair(true));
          Ask first = scene.acquire(10, B, options -> options.fair(true));
          Ask second = scene.acquire(20, C, options -> options.fair(true));
          scene.on(C, Message.KEEP).allUntil(300).comesAgainAfter(0);
          scene.release(300, holder);
          scene.release(400, first);
          scene.release(500, second);
          scene.quiet(600);
          scene.inTheEnd(() -> {
            assertThat(first.cameAtMillis()).isBetween(300L, 310L);
            assertThat(second.cameAtMillis()).isBetween(400L, 410L);
          });
        })
        .isStood()
        .catches(Flaw.LAST_COME_FIRST_SERVED);
  }

  /** A process with many callers of its own passes the lock on among them; another one waits, and is not starved. */
  @Test
  void localHandOver_doesNotStarveOthers() {
    Scenario.of(scene -> {
          Ask other = besideManyLocal(scene, 1);
          scene.quiet(800);
          scene.inTheEnd(() ->
              assertThat(other.cameAtMillis()).as("not behind all the sixty").isLessThan(150));
        })
        .isStood();
  }

  /**
   * The same where waiters look from time to time, and nobody tells them: once it has had its turn, the process with many
   * callers stays away for as long as the other one may need to look.
   */
  @Test
  void localHandOver_staysAwayUntilOthersHaveLooked() {
    Scenario.of(setup -> setup.queues = false, scene -> {
          scene.on(B, Message.PUSH).allUntil(50_000).replyIsLost();
          Ask other = besideManyLocal(scene, 50);
          scene.quiet(8_000);
          scene.inTheEnd(
              () -> assertThat(other.cameAtMillis()).as("at its next look").isLessThan(300));
        })
        .isStood();
  }

  /**
   * Process A has the lock for 100 ms, and then for sixty callers more, for each so long; process B wants it once. All get
   * it. Returns what B asked.
   */
  private static Ask besideManyLocal(Scene scene, long heldForMillis) {
    Ask holder = scene.acquire(0, A);
    Ask other = scene.acquire(30, B);
    List<Ask> local = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      Ask next = scene.acquire(40, A);
      scene.releaseWhenHeldFor(heldForMillis, next);
      local.add(next);
    }
    scene.release(100, holder);
    scene.releaseWhenHeldFor(10, other);
    scene.inTheEnd(() -> {
      assertThat(other.came()).isEqualTo(Kind.ACQUIRED);
      assertThat(local).allMatch(ask -> ask.came() == Kind.ACQUIRED);
    });
    return other;
  }

  /** A job that is to run once: its second machine starts late, and finds the lock kept although the first is done. */
  @Test
  void lock_isKeptAfterItsRelease() {
    Scenario.of(scene -> {
          Ask first = scene.acquire(0, A, options -> options.holdAtLeast(Duration.ofMillis(900)));
          scene.release(50, first);
          Ask tried = scene.tryAcquire(300, B);
          Ask next = scene.acquire(400, C);
          scene.release(1_500, next);
          scene.release(1_500, tried);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(first.released).isTrue();
            assertThat(tried.came()).isEqualTo(Kind.BUSY);
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isGreaterThanOrEqualTo(900);
          });
        })
        .isStood()
        .catches(Flaw.NOT_KEPT);
  }

  /** The store cannot be reached: that is a failure, and never "somebody else has it". */
  @Test
  void try_withoutAStore() {
    Scenario.of(scene -> {
          Ask warm = scene.acquire(0, A);
          scene.release(20, warm);
          scene.cut(3_000, A, 5_000);
          Ask tried = scene.tryAcquire(3_100, A);
          scene.quiet(6_000);
          scene.inTheEnd(() -> assertThat(tried.came()).isEqualTo(Kind.FAILED));
        })
        .isStood()
        .catches(Flaw.UNREACHABLE_IS_BUSY);
  }

  /** The machine that runs the job dies in it: the lock is not kept then, and the job can run again after the lease. */
  @Test
  void lock_isNotKeptForAJobThatDied() {
    Scenario.of(scene -> {
          Ask died = scene.acquire(0, A, options -> options.holdAtLeast(Duration.ofMillis(900)));
          scene.crash(50, A);
          Ask next = scene.acquire(60, B);
          scene.releaseWhenHeldFor(10, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(died.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isBetween(1_000L, 1_300L);
          });
        })
        .isStood();
  }
}
