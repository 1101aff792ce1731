// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static io.holdfast.testkit.sim.Scenario.A;
import static io.holdfast.testkit.sim.Scenario.B;
import static io.holdfast.testkit.sim.Scenario.C;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What becomes of a claim that its caller does not want any more, or has given back: nothing of it may come to life. */
class WithdrawalScenarioTest {
  /**
   * An attempt is stuck on the way (a stalled connection, a proxy, a retransmission); its caller gives up, the claim is
   * withdrawn, and then the attempt arrives.
   */
  @Test
  void attempt_afterItsWithdrawal() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).takes(2_000);
          Ask late = scene.acquire(0, A);
          scene.cancel(100, late);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(late.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(scene.events(Kind.GRANTED)).isEmpty();
          });
        })
        .isStood()
        .catches(Flaw.GIVE_UP_IGNORED);
  }

  /** The same on a store that has no time to judge by (etcd, Consul): the epoch tells. */
  @Test
  void attempt_afterItsWithdrawal_byEpoch() {
    Scenario.of(setup -> setup.finality = Setup.Finality.EPOCH, scene -> {
          scene.on(A, Message.ATTEMPT).takes(2_000);
          Ask late = scene.acquire(0, A);
          scene.cancel(100, late);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(late.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(scene.events(Kind.GRANTED)).isEmpty();
          });
        })
        .isStood()
        .catches(Flaw.EPOCH_IGNORED);
  }

  /**
   * A connection breaks with the attempt on its way, and the withdrawal overtakes it on another one: "nothing there" is
   * not the end, and is asked again.
   */
  @Test
  void withdrawal_overtakesTheAttempt() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).breaks();
          scene.on(A, Message.ATTEMPT).takes(200);
          scene.on(A, Message.ATTEMPT).replyIsLost();
          Ask overtaken = scene.acquire(0, A);
          scene.cancel(10, overtaken);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(overtaken.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(scene.events(Kind.GRANTED)).hasSize(1);
            assertThat(scene.events(Kind.ENDED)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.WITHDRAWN_ONCE);
  }

  /** The attempt is repeated, granted and released; then a copy of its first sending comes. */
  @Test
  void copyOfAnAttempt_afterTheRelease() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).breaks();
          scene.on(A, Message.ATTEMPT).takes(200);
          scene.on(A, Message.ATTEMPT).from(150).replyIsLost();
          Ask ask = scene.acquire(0, A);
          scene.release(80, ask);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(ask.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(ask.cameAtMillis()).isLessThan(80);
            assertThat(ask.released).isTrue();
          });
        })
        .isStood()
        .catches(Flaw.WITHDRAWN_ONCE);
  }

  /** The attempt comes in time, but waits in the store, for the row or in a pooler's queue, until after giveUpAt. */
  @Test
  void giveUpAt_isJudgedAfterTheWait() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).waitsInTheStore(800);
          Ask ask = scene.acquire(0, A);
          scene.cancel(50, ask);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(ask.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(scene.events(Kind.GRANTED)).isEmpty();
          });
        })
        .isStood()
        .catches(Flaw.GIVE_UP_BEFORE_THE_WAIT);
  }

  /** The client library sends again, by itself and with a new deadline, what nobody waits for any more. */
  @Test
  void driver_repeatsAnUnansweredAttempt() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).isLost();
          Ask ask = scene.acquire(0, A);
          scene.cancel(50, ask);
          scene.quiet(3_000);
          scene.inTheEnd(() -> assertThat(scene.events(Kind.GRANTED)).isEmpty());
        })
        .isStood()
        .catches(Flaw.DRIVER_REPLAYS);
  }

  /** The reply of a release is lost: it is repeated, and its caller hears that the lock was still theirs. */
  @Test
  void reply_ofARelease_isLost() {
    Scenario.of(scene -> {
          scene.on(A, Message.END).replyIsLost();
          Ask ask = scene.acquire(0, A);
          scene.release(100, ask);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(scene.events(Kind.ENDED)).hasSize(1);
            assertThat(scene.events(Kind.CLAIM_OVER)).hasSize(1);
          });
        })
        .isStood();
  }

  /** The release itself is lost: no answer is no confirmation. */
  @Test
  void release_isLost() {
    Scenario.of(scene -> {
          scene.on(A, Message.END).isLost();
          Ask ask = scene.acquire(0, A);
          scene.release(100, ask);
          Ask next = scene.acquire(110, B);
          scene.release(800, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).as("not the whole lease").isLessThan(600);
          });
        })
        .isStood()
        .catches(Flaw.UNKNOWN_END_IS_DONE);
  }

  /** The reply of a grant is lost: the same claim asks again and gets the same grant; nobody waits for itself. */
  @Test
  void reply_ofAGrant_isLost() {
    Scenario.of(scene -> {
          scene.on(A, Message.ATTEMPT).replyIsLost();
          Ask ask = scene.acquire(0, A);
          scene.release(700, ask);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(ask.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(ask.cameAtMillis()).isLessThan(400);
            assertThat(scene.events(Kind.GRANTED)).hasSize(1);
          });
        })
        .isStood();
  }

  /** A waiter's attempt is repeated by the network while another has the lock: it waits once, and leaves once. */
  @Test
  void copyOfAnAttempt_whileItWaits() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.on(B, Message.ATTEMPT).comesAgainAfter(0);
          Ask waiter = scene.acquire(10, B);
          scene.release(50, holder);
          scene.release(100, waiter);
          scene.quiet(300);
          scene.inTheEnd(() -> {
            assertThat(waiter.released).isTrue();
            assertThat(scene.events(Kind.GRANTED)).hasSize(2);
          });
        })
        .isStood()
        .catches(Flaw.DUPLICATE_QUEUES_TWICE);
  }

  /** A waiter is interrupted, or cancelled, just when it was granted the lock: it passes it on. */
  @Test
  void waiter_cancelledWhileItsGrantIsOnTheWay() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask cancelled = scene.block(10, B);
          Ask next = scene.acquire(20, C);
          scene.on(B, Message.PUSH).replyTakes(50);
          scene.release(100, holder);
          scene.cancel(120, cancelled);
          scene.release(300, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(cancelled.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isLessThan(130);
          });
        })
        .isStood()
        .catches(Flaw.INTERRUPT_LEAKS);
  }

  /** As above within one process: the first of two waiting callers is cancelled, and the second one gets the lock. */
  @Test
  void waiter_cancelledWithAnotherBehindItInItsProcess() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask cancelled = scene.acquire(10, B);
          Ask next = scene.acquire(20, B);
          scene.on(B, Message.PUSH).replyTakes(50);
          scene.release(100, holder);
          scene.cancel(120, cancelled);
          scene.release(300, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(cancelled.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isLessThan(160);
          });
        })
        .isStood();
  }

  /** A try is told "busy": nothing of it waits on. */
  @Test
  void try_leavesNothing() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask tried = scene.tryAcquire(10, B);
          scene.release(100, holder);
          scene.quiet(120);
          scene.inTheEnd(() -> {
            assertThat(tried.came()).isEqualTo(Kind.BUSY);
            assertThat(scene.events(Kind.GRANTED)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.TRY_LEAVES_A_WAITER);
  }

  /** {@code acquireAsync().orTimeout(...)}: whoever owns the future ends it, and the grant that comes later is given back. */
  @Test
  void future_isEndedByItsOwner() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          Ask ended = scene.acquire(10, B);
          scene.on(B, Message.PUSH).replyTakes(50);
          scene.release(100, holder);
          scene.endFuture(120, ended);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(ended.came()).isEqualTo(Kind.WITHDRAWN);
            assertThat(scene.events(Kind.GRANTED)).hasSize(2);
            assertThat(scene.events(Kind.ENDED)).hasSize(2);
          });
        })
        .isStood()
        .catches(Flaw.INTERRUPT_LEAKS);
  }

  /**
   * A release that is to keep the lock does not get through until the lease has ended by the holder's clock, and is given
   * up. By the store's clock, which went back meanwhile, it has not: when the client is back, what it finds of the claim is
   * ended as the release was to end it (seed 3628826586).
   */
  @Test
  void releaseThatKeeps_isGivenUp_andTheStoresClockWentBack() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A, options -> options.holdAtLeast(Duration.ofMillis(500)));
          scene.at(100, () -> scene.world.server.step(-4_000_000));
          scene.cut(105, A, 3_200);
          scene.release(110, holder);
          Ask next = scene.acquire(200, B);
          scene.releaseWhenHeldFor(10, next);
          scene.quiet(6_000);
          scene.inTheEnd(() -> {
            assertThat(holder.released).as("nothing is known of it").isNull();
            assertThat(scene.events(Kind.EXPIRED))
                .as("the lock is kept until its time, not its lease")
                .extracting(Event::claim)
                .containsExactly("");
            assertThat(next.came()).isEqualTo(Kind.ACQUIRED);
            assertThat(next.cameAtMillis()).isBetween(4_500L, 5_000L);
          });
        })
        .isStood();
  }

  /** A hold is forgotten by its holder: it is not renewed for ever, but given back. */
  @Test
  void hold_isDropped() {
    Scenario.of(scene -> {
          Ask forgetful = scene.acquire(0, A);
          scene.drop(100, forgetful);
          Ask next = scene.acquire(110, B);
          scene.releaseWhenHeldFor(10, next);
          scene.quiet(5_000);
          scene.inTheEnd(() -> assertThat(next.came()).isEqualTo(Kind.ACQUIRED));
        })
        .isStood();
  }
}
