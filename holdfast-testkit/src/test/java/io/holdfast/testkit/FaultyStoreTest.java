// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holder;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException.Reason;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreRuntime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Every fault does what it says: to the store, and to the answer. */
class FaultyStoreTest {
  private static final LockKey NAME = LockKey.of("name");

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final List<String> told = new ArrayList<>();
  private final FaultyStore store = started("c".repeat(32));
  private final Faults faults = store.faults();
  private final Claim claim = claim("c".repeat(32), 1);

  /** Without a script everything passes. */
  @Test
  void noFault_passesOn() {
    assertThat(Await.value(attempt(claim))).isInstanceOf(Answer.Granted.class);
    assertThat(Await.value(store.keep(List.of(claim))).get(claim.id()))
        .isInstanceOf(Kept.Held.class);
    assertThat(isHeld()).isTrue();
    Await.value(store.end(claim, Duration.ZERO, Instant.EPOCH));
    assertThat(isHeld()).isFalse();
    assertThat(faults.requests(Verb.ATTEMPT)).isEqualTo(1);
    assertThat(faults.requests(Verb.KEEP)).isEqualTo(1);
    assertThat(faults.requests(Verb.END)).isEqualTo(1);
    assertThat(store.describe()).isEqualTo("memory:");
  }

  /** A lost request: not applied, no answer. */
  @Test
  void loseRequest_losesBoth() {
    faults.on(Verb.ATTEMPT).once().loseRequest();
    assertThat(attempt(claim)).isNotDone();
    assertThat(isHeld()).isFalse();
    assertThat(attempt(claim)).isCompleted();
  }

  /** A lost reply: applied, no answer. */
  @Test
  void loseReply_losesTheAnswer() {
    faults.on(Verb.ATTEMPT).times(2).loseReply();
    assertThat(attempt(claim)).isNotDone();
    assertThat(isHeld()).isTrue();
    assertThat(attempt(claim)).isNotDone();
    assertThat(attempt(claim)).isCompleted();
  }

  /** A failure: not applied, and says so. A connection that breaks: applied, and does not say. */
  @Test
  void fail_andBreakOff_differInWhatIsKnown() {
    faults.on(Verb.ATTEMPT).once().fail(Reason.FULL);
    StoreException failed = (StoreException) Await.failure(attempt(claim));
    assertThat(failed.notApplied()).isTrue();
    assertThat(failed.reason()).isEqualTo(Reason.FULL);
    assertThat(isHeld()).isFalse();
    faults.on(Verb.ATTEMPT).once().breakOff();
    StoreException broken = (StoreException) Await.failure(attempt(claim));
    assertThat(broken.notApplied()).isFalse();
    assertThat(isHeld()).isTrue();
  }

  /** Delays, of the request and of the reply, on the client's timer. */
  @Test
  void delays_areOnTheClientsTimer() {
    faults.on(Verb.ATTEMPT).once().delayRequest(Duration.ofMillis(100));
    CompletableFuture<Answer> request = attempt(claim);
    assertThat(isHeld()).isFalse();
    clock.advance(Duration.ofMillis(100));
    assertThat(request).isCompleted();
    assertThat(isHeld()).isTrue();
    faults.on(Verb.ATTEMPT).once().delayReply(Duration.ofMillis(100));
    CompletableFuture<Answer> reply = attempt(claim);
    assertThat(reply).isNotDone();
    clock.advance(Duration.ofMillis(100));
    assertThat(reply).isCompleted();
  }

  /** Held back until the test lets it through; or until everything is well again. */
  @Test
  void holdBack_waitsForTheTest() {
    faults.on(Verb.ATTEMPT).once().holdBack();
    CompletableFuture<Answer> request = attempt(claim);
    assertThat(isHeld()).isFalse();
    assertThat(faults.heldBack()).isEqualTo(1);
    faults.letThrough();
    assertThat(request).isCompleted();
    faults.on(Verb.ATTEMPT).once().holdBackReply();
    CompletableFuture<Answer> reply = attempt(claim);
    assertThat(reply).isNotDone();
    faults.heal();
    assertThat(reply).isCompleted();
  }

  /** Twice there, once answered. */
  @Test
  void duplicate_isAnsweredOnce() {
    faults.on(Verb.ATTEMPT, Verb.END).duplicate();
    assertThat(attempt(claim)).isCompleted();
    assertThat(Await.value(store.end(claim, Duration.ZERO, Instant.EPOCH)).outcome())
        .isEqualTo(io.holdfast.spi.Ended.Outcome.RELEASED);
    assertThat(isHeld()).isFalse();
  }

  /** Silence swallows requests, and what the store would tell. */
  @Test
  void goSilent_swallowsEverything() {
    Claim other = claim("d".repeat(32), 1);
    FaultyStore theirs = started("d".repeat(32));
    assertThat(Await.value(theirs.attempt(other, Mode.TRY, later())))
        .isInstanceOf(Answer.Granted.class);
    assertThat(Await.value(attempt(claim))).isInstanceOf(Answer.Busy.class);
    faults.goSilent();
    Await.value(theirs.end(other, Duration.ZERO, Instant.EPOCH));
    assertThat(told).isEmpty();
    assertThat(attempt(claim)).isNotDone();
    faults.heal();
    assertThat(Await.value(attempt(claim))).isInstanceOf(Answer.Granted.class);
  }

  /** A lost hold: gone from the store, and told. An evicted one: gone, and not told. */
  @Test
  void loseHold_andEvict_differInWhatIsTold() {
    Await.value(attempt(claim));
    faults.evict("name");
    assertThat(isHeld()).isFalse();
    assertThat(told).isEmpty();
    Claim second = claim("c".repeat(32), 2);
    Await.value(attempt(second));
    faults.loseHold("name");
    assertThat(isHeld()).isFalse();
    assertThat(told).containsExactly("lost " + second.id() + " SESSION_ENDED");
  }

  /** A grant that was pushed is known as well as one that was answered. */
  @Test
  void loseHold_afterAPush_works() {
    FaultyStore theirs = started("d".repeat(32));
    Claim other = claim("d".repeat(32), 1);
    Await.value(theirs.attempt(other, Mode.TRY, later()));
    Await.value(attempt(claim));
    Await.value(theirs.end(other, Duration.ZERO, Instant.EPOCH));
    assertThat(told).containsExactly("granted " + claim.id());
    faults.loseHold("name");
    assertThat(told).hasSize(2);
  }

  /** What this client does not hold it cannot lose. */
  @Test
  void loseHold_ofNothing_isAnError() {
    assertThatThrownBy(() -> faults.loseHold("name"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("no client holds");
    FaultyStore theirs = started("d".repeat(32));
    Await.value(theirs.attempt(claim("d".repeat(32), 1), Mode.TRY, later()));
    assertThatThrownBy(() -> faults.evict("name"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("does not hold");
  }

  private CompletableFuture<Answer> attempt(Claim which) {
    return store.attempt(which, Mode.QUEUE, later()).toCompletableFuture();
  }

  private Instant later() {
    return store.time().plusSeconds(60);
  }

  private boolean isHeld() {
    return Await.value(store.inspect(NAME)).flatMap(info -> info.holder()).isPresent();
  }

  private static Claim claim(String client, long number) {
    return new Claim(
        new ClaimId(client, number),
        NAME,
        1,
        1,
        Duration.ofSeconds(30),
        false,
        new Holder("test", "host", 1, "main", ""));
  }

  private FaultyStore started(String client) {
    FaultyStore fresh = new FaultyStore(new MemoryStore(database));
    fresh.start(
        new StoreRuntime(client, clock, clock, new Random(1), Duration.ofSeconds(2)),
        new Telling());
    return fresh;
  }

  /** Writes down what the store tells. */
  private final class Telling implements StoreEvents {
    @Override
    public void granted(ClaimId id, Grant grant) {
      told.add("granted " + id);
    }

    @Override
    public void lookAgain(ClaimId id) {
      told.add("look again " + id);
    }

    @Override
    public void lookAgainAll() {
      told.add("look again all");
    }

    @Override
    public void disturbed() {
      told.add("disturbed");
    }

    @Override
    public void restored() {
      told.add("restored");
    }

    @Override
    public void lost(ClaimId id, LossReason reason) {
      told.add("lost " + id + " " + reason);
    }
  }
}
