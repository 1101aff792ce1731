// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import static io.holdfast.testkit.sim.Scenario.A;
import static io.holdfast.testkit.sim.Scenario.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.engine.SteppedJavaLock;
import io.holdfast.testkit.history.Event;
import io.holdfast.testkit.history.Kind;
import io.holdfast.testkit.sim.Fates.Message;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Who may end or extend what, in which order tokens come, and what the guarded resource makes of them. */
class OwnershipScenarioTest {
  /** A holder is stopped past its lease, the lock goes to another, and then it releases: that touches nobody else. */
  @Test
  void release_afterTheLease() {
    Scenario.of(scene -> {
          Ask slow = scene.acquire(0, A);
          scene.pause(100, A, 1_500);
          Ask next = scene.acquire(200, B);
          scene.release(1_490, slow);
          scene.release(2_000, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(slow.released).isNotEqualTo(true);
            assertThat(next.released).isTrue();
          });
        })
        .isStood()
        .catches(Flaw.RELEASE_WITHOUT_OWNER_CHECK);
  }

  /** A release that looks first whose the lock is, and deletes then: in between, the lock has gone to another. */
  @Test
  void release_isOneStep() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.on(A, Message.KEEP).allUntil(3_000).isLost();
          Ask next = scene.acquire(200, B);
          scene.on(A, Message.END).from(902).takes(300);
          scene.release(900, holder);
          scene.release(2_000, next);
          scene.quiet(3_000);
          scene.inTheEnd(() -> {
            assertThat(holder.released).isTrue();
            assertThat(next.released).isTrue();
          });
        })
        .isStood()
        .catches(Flaw.RELEASE_CHECKS_THEN_DELETES);
  }

  /** A renewal comes after the lease has ended, and nobody has the lock: it does not revive it. */
  @Test
  void renewal_afterTheLease() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.on(A, Message.KEEP).allUntil(3_000).takes(1_100);
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(holder.hold().isValid()).isFalse();
            assertThat(scene.events(Kind.EXTENDED)).isEmpty();
            assertThat(scene.events(Kind.LOST)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.RENEWAL_CREATES);
  }

  /** As above, and somebody else has the lock by then: it does not extend theirs. */
  @Test
  void renewal_ofAnothersLease() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.on(A, Message.KEEP).allUntil(3_000).takes(1_100);
          Ask next = scene.acquire(200, B);
          scene.release(2_500, next);
          scene.quiet(4_000);
          scene.inTheEnd(() -> {
            assertThat(holder.hold().isValid()).isFalse();
            assertThat(next.released).isTrue();
          });
        })
        .isStood()
        .catches(Flaw.RENEWAL_WITHOUT_OWNER_CHECK);
  }

  /** An operator looks, thinks, and ends what was seen; but the lock has gone to another meanwhile. */
  @Test
  void evict_endsWhatWasSeen() {
    Scenario.of(scene -> {
          Ask seen = scene.acquire(0, A);
          long[] revision = new long[1];
          scene.at(100, () -> revision[0] = scene.world.server.seen(Scene.LOCK));
          scene.release(200, seen);
          Ask next = scene.acquire(300, B);
          scene.at(400, () -> scene.world.server.evict(Scene.LOCK, revision[0]));
          scene.release(1_000, next);
          scene.quiet(2_000);
          scene.inTheEnd(() -> {
            assertThat(scene.events(Kind.EVICTED)).isEmpty();
            assertThat(next.released).isTrue();
          });
        })
        .isStood()
        .catches(Flaw.EVICT_WITHOUT_REVISION);
  }

  /**
   * An operator ends a hold without its holder's consent: the holder hears of it at its next renewal, and until the next
   * holder writes, nothing stops a write of the old one. Then the token does.
   */
  @Test
  void evictedHolder_isFencedByTheNextWrite() {
    Scenario.of(scene -> {
          Ask evicted = scene.acquire(0, A);
          scene.at(
              100, () -> scene.world.server.evict(Scene.LOCK, scene.world.server.seen(Scene.LOCK)));
          Ask next = scene.acquire(110, B);
          scene.at(120, A, evicted::write);
          scene.at(140, B, next::write);
          scene.at(160, A, evicted::write);
          scene.release(1_000, next);
          scene.quiet(2_000);
          scene.inTheEnd(() -> {
            assertThat(tokens(scene, Kind.ACCEPTED))
                .containsExactly(evicted.held().token, next.held().token);
            assertThat(tokens(scene, Kind.REFUSED)).containsExactly(evicted.held().token);
            assertThat(scene.events(Kind.LOST)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.UNGUARDED_RESOURCE);
  }

  /**
   * Martin Kleppmann's figure: a client looks at its hold, is stopped for longer than its lease, and writes. A resource
   * that takes everything is overwritten; one that compares tokens refuses.
   */
  @Test
  void slowHolder_writesAfterItsLease() {
    Scenario.of(scene -> {
          Ask slow = scene.acquire(0, A);
          scene.at(500, A, slow::write);
          scene.pause(500, A, 3_000);
          Ask next = scene.acquire(600, B);
          scene.at(2_000, B, next::write);
          scene.release(4_000, next);
          scene.quiet(5_000);
          scene.inTheEnd(() -> {
            assertThat(tokens(scene, Kind.ACCEPTED)).containsExactly(next.held().token);
            assertThat(tokens(scene, Kind.REFUSED)).containsExactly(slow.held().token);
          });
        })
        .isStood()
        .catches(Flaw.UNGUARDED_RESOURCE);
  }

  /** As above, but it is the write that is slow, in a network or a queue. */
  @Test
  void slowWrite_arrivesAfterTheLease() {
    Scenario.of(scene -> {
          Ask slow = scene.acquire(0, A);
          scene.on(A, Message.WRITE).takes(2_500);
          scene.at(100, A, slow::write);
          scene.release(200, slow);
          Ask next = scene.acquire(300, B);
          scene.at(400, B, next::write);
          scene.release(1_000, next);
          scene.quiet(5_000);
          scene.inTheEnd(
              () -> assertThat(tokens(scene, Kind.REFUSED)).containsExactly(slow.held().token));
        })
        .isStood()
        .catches(Flaw.UNGUARDED_RESOURCE);
  }

  /** The lock is released, and the store's clock steps back: the next token is greater all the same. */
  @Test
  void storeClock_stepsBackAfterARelease() {
    Scenario.of(scene -> {
          Ask first = scene.acquire(0, A);
          scene.release(100, first);
          scene.at(200, () -> scene.world.server.step(-2_000_000));
          Ask second = scene.acquire(300, B);
          scene.release(400, second);
          scene.quiet(1_000);
          scene.inTheEnd(() -> assertThat(second.held().token).isGreaterThan(first.held().token));
        })
        .isStood()
        .catches(Flaw.ROW_DELETED_AT_RELEASE)
        .catches(Flaw.REVISION_IS_TIME);
  }

  /** Tokens are the store's: the second machine's wall clock is seconds behind the first one's. */
  @Test
  void wallClocks_makeNoTokens() {
    Scenario.of(scene -> {
          scene.at(0, () -> scene.process(B).clock.stepWall(-8 * Setup.SECOND));
          Ask first = scene.acquire(10, A);
          scene.release(100, first);
          Ask second = scene.acquire(300, B);
          scene.release(400, second);
          scene.quiet(1_000);
          scene.inTheEnd(() -> assertThat(second.held().token).isGreaterThan(first.held().token));
        })
        .isStood()
        .catches(Flaw.REVISION_BY_CLIENT_CLOCK);
  }

  /**
   * The store's clock steps forward by more than a lease: a declared exception. Two believe that they hold the lock, and
   * the token decides.
   */
  @Test
  void storeClock_stepsForwardDuringALease() {
    Scenario.of(scene -> {
          Ask early = scene.acquire(0, A);
          scene.at(100, () -> scene.world.server.step(5_000_000));
          Ask next = scene.acquire(110, B);
          scene.at(150, B, next::write);
          scene.at(160, A, early::write);
          scene.release(1_000, next);
          scene.quiet(2_000);
          scene.inTheEnd(() -> {
            assertThat(tokens(scene, Kind.ACCEPTED)).containsExactly(next.held().token);
            assertThat(tokens(scene, Kind.REFUSED)).containsExactly(early.held().token);
            assertThat(scene.events(Kind.LOST)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.UNGUARDED_RESOURCE);
  }

  /** A thread is in a reentrant lock, twice; another one of its process is refused when it leaves, and changes nothing. */
  @Test
  void reentrantLock_countsForEachThread() {
    Scenario.of(scene -> {
          Ask holder = scene.acquire(0, A);
          scene.at(10, A, () -> enterTwice(scene, holder));
          scene.quiet(2_000);
          scene.inTheEnd(() -> {
            assertThat(scene.events(Kind.STRANGER)).hasSize(1);
            assertThat(scene.events(Kind.LEFT)).hasSize(2);
            assertThat(scene.events(Kind.ENDED)).hasSize(1);
          });
        })
        .isStood()
        .catches(Flaw.OWNER_IS_THE_PROCESS);
  }

  private static void enterTwice(Scene scene, Ask holder) {
    boolean shared = scene.world.flaw == Flaw.OWNER_IS_THE_PROCESS;
    SteppedJavaLock first = new SteppedJavaLock(holder.lock, SimThread.numbered(0));
    SteppedJavaLock second = new SteppedJavaLock(holder.lock, SimThread.numbered(shared ? 0 : 1));
    first.own(holder.hold());
    count(scene, Kind.ENTERED, 0, first);
    assertThat(first.enterAgain()).isTrue();
    count(scene, Kind.ENTERED, 0, first);
    leave(scene, 1, second);
    leave(scene, 0, first);
    holder.held().record(Kind.RELEASING, 0);
    holder.held().over();
    leave(scene, 0, first);
  }

  private static void leave(Scene scene, int thread, SteppedJavaLock view) {
    try {
      Optional<CompletableFuture<Boolean>> unused = view.unlock();
      count(scene, Kind.LEFT, thread, view);
    } catch (IllegalMonitorStateException e) {
      count(scene, Kind.STRANGER, thread, view);
    }
  }

  private static void count(Scene scene, Kind kind, int thread, SteppedJavaLock view) {
    scene.world.record(kind, A, Scene.LOCK, "", "", thread, view.holdCount(), 0);
  }

  private static List<Long> tokens(Scene scene, Kind kind) {
    return scene.events(kind).stream().map(Event::number).toList();
  }
}
