// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A client is done with a claim, and a hold with its lease, only when nothing of it can come back. */
@ExtendWith(HoldfastExtension.class)
class EngineEndingTest {
  private static final String NAME = "job";

  private final List<ClaimId> ended = new ArrayList<>();

  /**
   * A release is under way when a copy of the attempt that was given up is applied behind it, and answered before it: the
   * release's answer is about the time before, and is not the end.
   */
  @Test
  void release_withAnAttemptAppliedBehindIt(
      Holdfast holdfast, Faults faults, ManualClock clock, Rival rival) {
    faults.on(Verb.ATTEMPT).once().holdBackReply();
    faults.on(Verb.ATTEMPT).once().delayRequest(Duration.ofSeconds(1));
    CompletableFuture<Hold> waiting = holdfast.lock(NAME).acquireAsync();
    clock.advance(Duration.ofMillis(2_500));
    assertThat(faults.requests(Verb.ATTEMPT)).isEqualTo(2);
    faults.letThrough();
    Hold hold = Await.value(waiting);
    faults.on(Verb.END).once().holdBackReply();
    CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(hold::release);
    Await.until("the release is under way", () -> faults.heldBack() == 1);
    clock.advance(Duration.ofMillis(700));
    faults.letThrough();
    assertThat(Await.value(released)).isTrue();
    assertThat(rival.take(NAME).isValid())
        .as("what was applied behind it is ended too")
        .isTrue();
  }

  /**
   * The store says at a renewal that the hold is gone; before that answer comes, a copy of the attempt is applied, and
   * answered: what it has left is ended, although nothing is unanswered any more.
   */
  @Test
  @Warns("hold lost: GONE")
  void gone_withAnAttemptAppliedBehindIt(
      Holdfast holdfast, Faults faults, ManualClock clock, Rival rival) {
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(3)).build();
    faults.on(Verb.ATTEMPT).once().holdBackReply();
    faults.on(Verb.ATTEMPT).once().delayRequest(Duration.ofMillis(600));
    CompletableFuture<Hold> waiting = holdfast.lock(NAME, options).acquireAsync();
    clock.advance(Duration.ofMillis(1_200));
    assertThat(faults.requests(Verb.ATTEMPT)).isEqualTo(2);
    faults.on(Verb.KEEP).once().holdBackReply();
    faults.letThrough();
    Hold hold = Await.value(waiting);
    faults.evict(NAME);
    clock.advance(Duration.ofMillis(100));
    assertThat(faults.heldBack()).as("a renewal is under way").isEqualTo(1);
    clock.advance(Duration.ofMillis(400));
    faults.letThrough();
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
    assertThat(rival.take(NAME).isValid())
        .as("what was applied behind it is ended")
        .isTrue();
  }

  /**
   * A waiter's first attempt is given up; its answer, "busy", comes late, and the second one is refused. What the first
   * has left in the queue is ended when the caller leaves.
   */
  @Test
  void lateBusy_ofAnAttemptThatWasGivenUp(
      Holdfast holdfast, Faults faults, ManualClock clock, Rival rival) {
    Hold other = rival.take(NAME);
    faults.on(Verb.ATTEMPT).once().holdBackReply();
    faults.on(Verb.ATTEMPT).fail();
    CompletableFuture<Hold> waiting = holdfast.lock(NAME).acquireAsync();
    clock.advance(Duration.ofMillis(2_100));
    assertThat(faults.requests(Verb.ATTEMPT)).isGreaterThanOrEqualTo(2);
    faults.letThrough();
    assertThat(waiting.cancel(false)).isTrue();
    assertThat(other.release()).isTrue();
    assertThat(rival.take(NAME).isValid()).as("nobody stands in the queue").isTrue();
  }

  /**
   * An attempt is given up, and a second one is under way when the caller leaves. Then the first is answered, with a grant,
   * and the store refuses the second as too late. No answer is missing any more, but the grant is ended all the same.
   */
  @Test
  void lateGrant_ofAnAttemptThatWasGivenUp_afterTheCallerHasLeft() {
    ManualClock clock = new ManualClock();
    MemoryDatabase database = new MemoryDatabase(clock);
    List<CompletableFuture<Answer>> attempts = new ArrayList<>();
    Holdfast holdfast = client(clock, new ForwardingStore(new MemoryStore(database)) {
      @Override
      public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        attempts.add(answer);
        return answer;
      }

      @Override
      public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
        ended.add(claim.id());
        return super.end(claim, keepFor, lastGiveUp);
      }
    });
    CompletableFuture<Hold> waiting = holdfast.lock(NAME).acquireAsync();
    clock.advance(Duration.ofMillis(2_500));
    assertThat(attempts).hasSize(2);
    assertThat(waiting.cancel(false)).isTrue();
    assertThat(ended).as("the answer of the second is awaited").isEmpty();
    Grant grant = new Grant(1, clock.now(), LockOptions.DEFAULT_LEASE, false);
    attempts.get(0).complete(new Answer.Granted(grant));
    attempts.get(1).complete(new Answer.Late());
    assertThat(ended).as("the claim that was granted").hasSize(1);
    holdfast.close();
  }

  private static Holdfast client(ManualClock clock, LockStore store) {
    return Holdfast.builder()
        .store(store)
        .ticker(clock)
        .scheduler(clock)
        .requestTimeout(Duration.ofSeconds(2))
        .build();
  }

  /** The wall clock is set forward by a lease, somebody looks at the hold, and it is set back. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void wallClock_setForwardAndBack(Holdfast holdfast, ManualClock clock) throws Exception {
    Hold hold = holdfast.lock(NAME).acquire();
    clock.stepWall(LockOptions.DEFAULT_LEASE);
    assertThat(hold.isValid()).isFalse();
    clock.stepWall(LockOptions.DEFAULT_LEASE.negated());
    assertThat(hold.isValid()).as("what was invalid once stays so").isFalse();
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }
}
