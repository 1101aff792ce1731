// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Moment;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Late answers that a claim is granted. If a later request was answered that it is not, an operator may have ended the grant in
 * between, and another process may hold the lock.
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
  void earlierRefresh_grantsNothing_onceALaterOneFoundItQueued() {
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
  void earlierRefresh_grantsNothing_onceALaterOneFoundTheClaimGone() {
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
  void earlierAttempt_grantsNothing_onceALaterOneWasBusy() {
    Grant old = grant(1);
    clock.advance(TOO_LONG);
    store.attempts.get(1).complete(BUSY);
    store.attempts.get(0).complete(new Answer.Granted(old));
    assertThat(asked).isNotDone();
    assertThat(store.attempts).as("asked what is true now").hasSize(3);
    store.attempts.get(2).complete(new Answer.Granted(grant(2)));
    assertThat(asked).isCompleted();
  }

  /** Nothing was said to the contrary yet: it is the same claim. If it is said later, the hold is renewed at once, which tells. */
  @Test
  @Warns("hold lost: GONE")
  void earlierAttempt_grants_untilTheLaterOneIsBusy() {
    Hold hold = grantedLate();
    assertThat(store.keeps).isEmpty();
    store.attempts.get(1).complete(BUSY);
    assertThat(store.keeps).hasSize(1);
    // that attempt has queued the claim
    store.keeps.get(0).complete(new Kept.Queued());
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  /** What a renewal tells that was sent before is older than the doubt; one that was sent since settles it. */
  @Test
  void grantInDoubt_isRenewedOnceMore_andThenBelieved() {
    Hold hold = grantedLate();
    clock.advance(Duration.ofSeconds(8));
    assertThat(store.keeps).hasSize(1);
    store.attempts.get(1).complete(BUSY);
    // one renewal at a time
    assertThat(store.keeps).hasSize(1);
    store.keeps.get(0).complete(new Kept.Held(grant(1)));
    assertThat(store.keeps).hasSize(2);
    store.keeps.get(1).complete(new Kept.Held(grant(1)));
    clock.advance(Duration.ofSeconds(11));
    store.keeps.get(2).complete(new Kept.Queued());
    assertThat(hold.isValid()).as("no doubt is left").isTrue();
    store.keeps.get(3).complete(new Kept.Held(grant(1)));
    assertThat(hold.isValid()).isTrue();
  }

  /** The attempt that queued the claim anew was never answered: a renewal tells. What it says is asked once more, at once. */
  @Test
  @Warns("hold lost: GONE")
  void renewalThatFindsTheClaimQueued_isRepeated_andThenBelieved() {
    Hold hold = grantedLate();
    clock.advance(Duration.ofSeconds(8));
    store.keeps.get(0).complete(new Kept.Queued());
    assertThat(hold.isValid()).isTrue();
    assertThat(store.keeps).hasSize(2);
    store.keeps.get(1).complete(new Kept.Queued());
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  @Test
  @Warns("hold lost: GONE")
  void grantInDoubt_isLost_thoughARenewalOfBeforeWasConfirmed() {
    Hold hold = grantedLate();
    clock.advance(Duration.ofSeconds(8));
    store.attempts.get(1).complete(BUSY);
    store.keeps.get(0).complete(new Kept.Held(grant(1)));
    store.keeps.get(1).complete(new Kept.Queued());
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  /** Two renewals that were both sent before the doubt say the same: they are not taken for two answers. */
  @Test
  @Warns("hold lost: GONE")
  void renewalsThatFindTheClaimQueued_areFollowedByOneMore() {
    store.attempts.get(0).complete(new Answer.Granted(grant(1)));
    Hold hold = Await.value(asked);
    clock.advance(Duration.ofSeconds(10));
    assertThat(store.keeps).hasSize(1);
    // it has no answer in its time: sent again
    clock.advance(TOO_LONG);
    assertThat(store.keeps).hasSize(2);
    store.keeps.get(0).complete(new Kept.Queued());
    store.keeps.get(1).complete(new Kept.Queued());
    assertThat(hold.isValid()).isTrue();
    assertThat(store.keeps).hasSize(3);
    store.keeps.get(2).complete(new Kept.Queued());
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  /** Another thread of this process gets a hold that is in doubt when a renewal has confirmed it. */
  @Test
  void grantInDoubt_isPassedOnWhenItIsConfirmed() {
    Hold hold = grantedLate();
    CompletableFuture<Hold> next = holdfast.lock("job").acquireAsync();
    store.attempts.get(1).complete(BUSY);
    assertThat(hold.release()).isTrue();
    assertThat(next).isNotDone();
    store.keeps.get(0).complete(new Kept.Held(grant(1)));
    assertThat(next).isCompleted();
  }

  @Test
  void messageThatGrants_isInDoubt_onceTheAttemptUnderWayIsBusy() {
    store.attempts.get(0).complete(BUSY);
    store.events().lookAgain(store.claims.get(0));
    assertThat(store.attempts).hasSize(2);
    store.events().granted(store.claims.get(0), grant(1));
    assertThat(asked).isCompleted();
    store.attempts.get(1).complete(BUSY);
    assertThat(store.keeps).hasSize(1);
  }

  /** An attempt that was given up may still be applied. */
  @Test
  void messageThatGrants_isInDoubt_onceAnAttemptThatWasGivenUpIsBusy() {
    store.attempts.get(0).complete(BUSY);
    store.events().lookAgain(store.claims.get(0));
    clock.advance(REQUEST);
    assertThat(store.attempts).as("the next one is not sent yet").hasSize(2);
    store.events().granted(store.claims.get(0), grant(1));
    assertThat(asked).isCompleted();
    store.attempts.get(1).complete(BUSY);
    assertThat(store.keeps).hasSize(1);
  }

  /** As it is where a message comes between: what a refresh found before it is older. */
  @Test
  void messageThatGrants_isNotInDoubt_forARefreshThatWasSentBefore() {
    store.attempts.get(0).complete(BUSY);
    refresh();
    store.events().granted(store.claims.get(0), grant(1));
    assertThat(asked).isCompleted();
    store.keeps.get(0).complete(new Kept.Queued());
    assertThat(store.keeps).hasSize(1);
  }

  @Test
  void earlierRefresh_grantsNothing_onceALaterOneFoundTheClaimGone_whileAnAttemptWasUnderWay() {
    Grant old = grant(1);
    store.attempts.get(0).complete(BUSY);
    refresh();
    clock.advance(TOO_LONG);
    assertThat(store.keeps).hasSize(2);
    store.events().lookAgain(store.claims.get(0));
    assertThat(store.attempts).hasSize(2);
    store.keeps.get(1).complete(new Kept.Gone());
    clock.advance(REQUEST);
    store.keeps.get(0).complete(new Kept.Held(old));
    assertThat(asked).isNotDone();
  }

  /** The store has forgotten what it had, and counts from a shared lease's last renewal, which is older than both claims. */
  @Test
  void grantOfAStoreThatHasForgotten_isTaken_thoughItsAnchorIsOld() {
    Moment renewed = clock.now();
    clock.advance(Duration.ofMillis(1));
    store.attempts.get(0).complete(new Answer.Granted(grant(10, renewed)));
    assertThat(Await.value(asked).release()).isTrue();
    CompletableFuture<Hold> next = holdfast.lock("job").acquireAsync();
    store.attempts.get(1).complete(new Answer.Granted(grant(5, renewed)));
    assertThat(next).isCompleted();
  }

  /** The same while this process believes that it holds the lock. */
  @Test
  @Warns("hold lost: GONE")
  void grantOfAStoreThatHasForgotten_endsTheHoldThatItHasForgotten() {
    store.attempts.get(0).complete(new Answer.Granted(grant(10)));
    Hold forgotten = Await.value(asked);
    CompletableFuture<Hold> next = holdfast
        .lock(
            "job",
            LockOptions.builder().fair(true).leaseFor(Duration.ofSeconds(31)).build())
        .acquireAsync();
    store.attempts.get(1).complete(new Answer.Granted(grant(5)));
    assertThat(next).isCompleted();
    assertThat(forgotten.state()).isEqualTo(HoldState.LOST);
  }

  /**
   * After the refresh was sent, another claim of this process was granted, by a message whose lease counts from a request that is
   * older still: the anchors do not order the two, but the time of the question does.
   */
  @Test
  void earlierGrant_isOver_onceThisProcessHadANewerOne() {
    store.attempts.get(0).complete(BUSY);
    Grant pushed = grant(2);
    refresh();
    CompletableFuture<Hold> other = holdfast
        .lock(
            "job",
            LockOptions.builder().fair(true).leaseFor(Duration.ofSeconds(31)).build())
        .acquireAsync();
    clock.advance(Duration.ofMillis(1));
    store.attempts.get(1).complete(new Answer.Granted(pushed));
    assertThat(other).isCompleted();
    assertThat(Await.value(other).release()).isTrue();
    // a shared lease's anchor may be younger than the question
    store.keeps.get(0).complete(new Kept.Held(grant(1)));
    assertThat(asked).isNotDone();
    store.attempts.get(store.attempts.size() - 1).complete(new Answer.Granted(grant(3)));
    assertThat(asked).isCompleted();
  }

  /** The first attempt is answered "granted" when a second one is under way. */
  private Hold grantedLate() {
    Grant late = grant(1);
    clock.advance(TOO_LONG);
    assertThat(store.attempts).hasSizeGreaterThan(1);
    store.attempts.get(0).complete(new Answer.Granted(late));
    return Await.value(asked);
  }

  /** Moves time on until the claim is renewed or refreshed. */
  private void refresh() {
    int before = store.keeps.size();
    clock.advance(Duration.ofSeconds(2));
    assertThat(store.keeps).hasSize(before + 1);
  }

  private Grant grant(long revision) {
    return grant(revision, clock.now());
  }

  private static Grant grant(long revision, Moment anchor) {
    return new Grant(revision, anchor, Duration.ofSeconds(30), false);
  }

  /** Its attempts and keeps are answered by the test; an end is one at once. */
  private static final class Scripted extends ForwardingStore {
    final List<CompletableFuture<Answer>> attempts = new ArrayList<>();
    final List<CompletableFuture<Kept>> keeps = new ArrayList<>();
    final List<ClaimId> claims = new ArrayList<>();
    private @Nullable StoreEvents events;

    Scripted(ManualClock clock) {
      super(new MemoryStore(new MemoryDatabase(clock)));
    }

    StoreEvents events() {
      return Objects.requireNonNull(events);
    }

    @Override
    public void start(StoreRuntime runtime, StoreEvents told) {
      events = told;
      super.start(runtime, told);
    }

    @Override
    public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
      claims.add(claim.id());
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
