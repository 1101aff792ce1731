// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Answers that a claim is granted and that come late. If a later request was told otherwise, an operator may have ended that grant
 * in between, and another process may have the lock.
 */
class LateGrantTest {
  private static final Answer BUSY = new Answer.Busy(true, Optional.empty(), Optional.empty());

  private static final Duration REQUEST = Duration.ofSeconds(2);

  /** Longer than a request may take, and the pause after it. */
  private static final Duration TOO_LONG = Duration.ofSeconds(3);

  private final ManualClock clock = new ManualClock();
  private final Scripted store = new Scripted(clock);
  private final Holdfast holdfast = Holdfast.builder()
      .store(store)
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(Runnable::run)
      .requestTimeout(REQUEST)
      .build();

  private final CompletableFuture<Hold> asked = holdfast.lock("job").acquireAsync();

  @AfterEach
  void close() {
    store.attempts.forEach(each -> each.complete(BUSY));
    holdfast.close();
  }

  @Test
  void refreshOfBefore_grantsNothing_onceALaterOneFoundItQueued() {
    Grant old = grant(1);
    store.attempts.get(0).complete(BUSY);
    refresh();
    // it has no answer in its time: sent again
    clock.advance(TOO_LONG);
    store.keeps.get(1).complete(new Kept.Queued());
    store.keeps.get(0).complete(new Kept.Held(old));
    assertThat(asked).isNotDone();
    assertThat(store.attempts).as("asked what is true now").hasSize(2);
    store.attempts.get(1).complete(new Answer.Granted(grant(2)));
    assertThat(asked).isCompleted();
  }

  @Test
  void refreshOfBefore_grantsNothing_onceALaterOneFoundTheClaimGone() {
    Grant old = grant(1);
    store.attempts.get(0).complete(BUSY);
    refresh();
    clock.advance(TOO_LONG);
    store.keeps.get(1).complete(new Kept.Gone());
    // the attempt that follows has no answer either, and a pause begins
    clock.advance(REQUEST);
    assertThat(store.attempts).hasSize(2);
    store.keeps.get(0).complete(new Kept.Held(old));
    assertThat(asked).isNotDone();
    clock.advance(TOO_LONG);
    store.attempts.get(2).complete(new Answer.Granted(grant(2)));
    assertThat(asked).isCompleted();
  }

  @Test
  void attemptOfBefore_grantsNothing_onceALaterOneWasBusy() {
    Grant old = grant(1);
    clock.advance(TOO_LONG);
    store.attempts.get(1).complete(BUSY);
    store.attempts.get(0).complete(new Answer.Granted(old));
    assertThat(asked).isNotDone();
    assertThat(store.attempts).as("asked what is true now").hasSize(3);
    store.attempts.get(2).complete(new Answer.Granted(grant(2)));
    assertThat(asked).isCompleted();
  }

  /** Nothing was said to the contrary: it is the same claim. */
  @Test
  void attemptOfBefore_grants_whileTheLaterOneHasNoAnswer() {
    Grant late = grant(1);
    clock.advance(TOO_LONG);
    assertThat(store.attempts).hasSizeGreaterThan(1);
    store.attempts.get(0).complete(new Answer.Granted(late));
    assertThat(asked).isCompleted();
  }

  /**
   * Another claim of this process has had the lock since that was asked; and of that grant's message, the request that it counts
   * from is older still.
   */
  @Test
  void grantOfBefore_isOver_onceThisProcessHadANewerOne() {
    store.attempts.get(0).complete(BUSY);
    Grant pushed = grant(2);
    refresh();
    Grant old = grant(1);
    CompletableFuture<Hold> other = holdfast
        .lock(
            "job",
            LockOptions.builder().fair(true).leaseFor(Duration.ofSeconds(31)).build())
        .acquireAsync();
    clock.advance(Duration.ofMillis(1));
    store.attempts.get(1).complete(new Answer.Granted(pushed));
    assertThat(other).isCompleted();
    assertThat(Await.value(other).release()).isTrue();
    store.keeps.get(0).complete(new Kept.Held(old));
    assertThat(asked).isNotDone();
    store.attempts.get(store.attempts.size() - 1).complete(new Answer.Granted(grant(3)));
    assertThat(asked).isCompleted();
  }

  /** Waits until the claim is refreshed. */
  private void refresh() {
    int before = store.keeps.size();
    clock.advance(Duration.ofSeconds(2));
    assertThat(store.keeps).hasSize(before + 1);
  }

  private Grant grant(long revision) {
    return new Grant(revision, clock.now(), Duration.ofSeconds(30), false);
  }

  /** Its attempts and keeps are answered by the test; an end is one at once. */
  private static final class Scripted extends ForwardingStore {
    final List<CompletableFuture<Answer>> attempts = new ArrayList<>();
    final List<CompletableFuture<Kept>> keeps = new ArrayList<>();

    Scripted(ManualClock clock) {
      super(new MemoryStore(new MemoryDatabase(clock)));
    }

    @Override
    public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      attempts.add(answer);
      return answer;
    }

    @Override
    public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> claims) {
      CompletableFuture<Kept> answer = new CompletableFuture<>();
      keeps.add(answer);
      ClaimId claim = claims.iterator().next().id();
      return answer.thenApply(kept -> Map.of(claim, kept));
    }

    @Override
    public CompletionStage<Ended> end(Claim claim, Duration keepFor, Instant lastGiveUp) {
      return CompletableFuture.completedFuture(new Ended(Ended.Outcome.RELEASED, true, false));
    }
  }
}
