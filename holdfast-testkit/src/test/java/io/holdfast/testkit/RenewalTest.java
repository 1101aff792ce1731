// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Hold;
import io.holdfast.HoldLostException;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Moment;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Renewals whose answers are wrong, late, partial or missing: holds are renewed as long as they can be, and told. */
class RenewalTest {
  private static final Duration LEASE = LockOptions.DEFAULT_LEASE;

  private final ManualClock clock = new ManualClock();
  private final Tampered store = new Tampered(new MemoryDatabase(clock));
  private final Holdfast holdfast = Holdfast.builder()
      .store(store)
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(Runnable::run)
      .build();

  /** All that a test acquires: a hold that nothing refers to is released as garbage. */
  private final List<Hold> holds = new ArrayList<>();

  @AfterEach
  void close() {
    holdfast.close();
  }

  /** How a keep can go wrong at once. */
  enum Wrong {
    THROWS {
      @Override
      CompletionStage<Map<ClaimId, Kept>> answer(CompletionStage<Map<ClaimId, Kept>> right) {
        throw new IllegalStateException("for the test");
      }
    },
    FAILED_FUTURE {
      @Override
      CompletionStage<Map<ClaimId, Kept>> answer(CompletionStage<Map<ClaimId, Kept>> right) {
        return CompletableFuture.failedFuture(new IllegalStateException("for the test"));
      }
    },
    FAILED_STAGE {
      @Override
      CompletionStage<Map<ClaimId, Kept>> answer(CompletionStage<Map<ClaimId, Kept>> right) {
        return CompletableFuture.failedStage(new IllegalStateException("for the test"));
      }
    },
    NO_STAGE {
      @Override
      @SuppressWarnings("NullAway") // what no store should do
      CompletionStage<Map<ClaimId, Kept>> answer(CompletionStage<Map<ClaimId, Kept>> right) {
        return null;
      }
    },
    NO_ANSWERS {
      @Override
      CompletionStage<Map<ClaimId, Kept>> answer(CompletionStage<Map<ClaimId, Kept>> right) {
        return CompletableFuture.completedFuture(Map.of());
      }
    };

    abstract CompletionStage<Map<ClaimId, Kept>> answer(CompletionStage<Map<ClaimId, Kept>> right);
  }

  /** The renewals go wrong for half of the lease, then work: the holds outlive their first lease by far. */
  @ParameterizedTest
  @EnumSource
  @MayWarn("an internal step failed")
  void keep_wrongForAWhile_isTriedAgain(Wrong wrong) throws Exception {
    acquireSome();
    store.answers = wrong::answer;
    clock.advance(LEASE.dividedBy(2).plusSeconds(1));
    assertThat(store.keeps).as("tried again").isGreaterThan(3);
    assertThat(holds).extracting(Hold::state).containsOnly(HoldState.AT_RISK);
    store.answers = right -> right;
    clock.advance(LEASE);
    assertThat(holds).extracting(Hold::state).containsOnly(HoldState.HELD);
    assertThat(holds).allMatch(Hold::release);
  }

  /** The renewals go wrong for good: every hold is told lost in time, although nobody asks it. */
  @ParameterizedTest
  @EnumSource
  @Warns("hold lost: LEASE_ENDED")
  @MayWarn("an internal step failed")
  void keep_wrongForGood_isALossThatIsTold(Wrong wrong) throws Exception {
    acquireSome();
    List<CompletableFuture<?>> losses = new ArrayList<>();
    holds.forEach(hold -> losses.add(hold.lost()));
    store.answers = wrong::answer;
    clock.advance(LEASE.minusSeconds(1));
    assertThat(losses).noneMatch(CompletableFuture::isDone);
    clock.advance(Duration.ofSeconds(1));
    assertThat(losses).allMatch(CompletableFuture::isDone);
    assertThat(holds).extracting(Hold::state).containsOnly(HoldState.LOST);
  }

  /** The answer says nothing about one claim of several: only that one suffers. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void keep_withOneClaimMissing() throws Exception {
    acquireSome();
    CompletableFuture<?> loss = holds.get(1).lost();
    store.answers = right -> right.thenApply(answers -> {
      Map<ClaimId, Kept> less = new HashMap<>(answers);
      less.remove(store.claims.get(1));
      return less;
    });
    clock.advance(LEASE);
    assertThat(loss).isDone();
    assertThat(holds)
        .extracting(Hold::state)
        .containsExactly(HoldState.HELD, HoldState.LOST, HoldState.HELD);
  }

  /** An answer with an older anchor, or a shorter lease, takes nothing away from what was confirmed before. */
  @Test
  void renewed_withLess_takesNothingAway() throws Exception {
    acquireSome();
    Hold hold = holds.get(0);
    store.answers = granting(grant ->
        new Grant(grant.revision(), earlier(grant.anchor(), Duration.ofSeconds(25)), LEASE, false));
    clock.advance(Duration.ofSeconds(12));
    assertThat(store.keeps).isPositive();
    Duration expected = validFor(LEASE).minusSeconds(12);
    assertThat(hold.remaining()).isEqualTo(expected);
    store.answers = granting(
        grant -> new Grant(grant.revision(), grant.anchor(), Duration.ofSeconds(3), false));
    clock.advance(Duration.ofSeconds(2));
    assertThat(hold.remaining()).isEqualTo(expected.minusSeconds(2));
    store.answers = right -> right;
    clock.advance(Duration.ofSeconds(2));
    assertThat(hold.remaining()).isGreaterThan(expected);
  }

  /** However late the answer comes, it is worth what is left since its request was sent. */
  @Test
  void renewed_late_countsFromTheRequest() throws Exception {
    acquireSome();
    Hold hold = holds.get(0);
    CompletableFuture<Boolean> mayCome = new CompletableFuture<>();
    store.answers = right -> right.thenCombine(mayCome, (answers, now) -> answers);
    clock.advance(Duration.ofSeconds(10));
    assertThat(store.keeps).isEqualTo(1);
    CompletableFuture<?> never = new CompletableFuture<>();
    store.answers = right -> right.thenCombine(never, (answers, now) -> answers);
    clock.advance(Duration.ofSeconds(15));
    assertThat(hold.remaining()).isEqualTo(validFor(LEASE).minusSeconds(25));
    mayCome.complete(true);
    assertThat(hold.remaining())
        .as("confirmed by a request that was sent at ten seconds at the latest")
        .isGreaterThan(Duration.ofSeconds(10))
        .isLessThanOrEqualTo(validFor(LEASE).minusSeconds(15));
  }

  /** A late answer of an earlier renewal, after that of a later one, changes nothing. */
  @Test
  void renewed_outOfOrder_keepsTheBetterOne() throws Exception {
    acquireSome();
    Hold hold = holds.get(0);
    CompletableFuture<Boolean> mayCome = new CompletableFuture<>();
    store.answers = right -> right.thenCombine(mayCome, (answers, now) -> answers);
    clock.advance(Duration.ofSeconds(10));
    store.answers = right -> right;
    clock.advance(Duration.ofSeconds(4));
    Duration before = hold.remaining();
    assertThat(before).isGreaterThan(Duration.ofSeconds(26));
    mayCome.complete(true);
    assertThat(hold.remaining()).isEqualTo(before);
    clock.advance(LEASE.multipliedBy(2));
    assertThat(hold.state()).isEqualTo(HoldState.HELD);
  }

  /** The store has granted the same claim anew, so the grant of before has ended: that is a loss, and no renewal. */
  @Test
  @Warns("hold lost: GONE")
  void renewed_asAnotherGrant_isALoss() throws Exception {
    acquireSome();
    Hold hold = holds.get(0);
    store.answers =
        granting(grant -> new Grant(grant.revision() + 1, grant.anchor(), grant.lease(), false));
    clock.advance(LEASE.dividedBy(3));
    assertThat(store.keeps).isPositive();
    assertThat(hold.lost()).isDone();
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
  }

  /** An answer that comes when the hold was told lost does not bring it back. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void renewed_afterTheLoss_changesNothing() throws Exception {
    acquireSome();
    Hold hold = holds.get(0);
    CompletableFuture<Boolean> mayCome = new CompletableFuture<>();
    store.answers = right -> right.thenCombine(mayCome, (answers, now) -> answers);
    clock.advance(LEASE);
    assertThat(hold.lost()).isDone();
    mayCome.complete(true);
    assertThat(hold.state()).isEqualTo(HoldState.LOST);
    assertThat(hold.remaining()).isZero();
  }

  /** Who stood still past both limits is told which of them came first. */
  @Test
  @Warns({"hold lost: HELD_TOO_LONG", "hold lost: LEASE_ENDED"})
  void stoodStill_pastBothLimits_isToldTheFirst() throws Exception {
    Hold most = holdfast
        .lock("most", LockOptions.builder().holdAtMost(LEASE.dividedBy(2)).build())
        .acquire();
    Hold lease = holdfast
        .lock("lease", LockOptions.builder().holdAtMost(LEASE.multipliedBy(2)).build())
        .acquire();
    clock.freeze(LEASE.multipliedBy(3));
    assertReason(most, LossReason.HELD_TOO_LONG);
    assertReason(lease, LossReason.LEASE_ENDED);
  }

  /** The machine slept past the lease, and the store's word comes before the timer: the lease had ended all the same. */
  @Test
  @Warns("hold lost: LEASE_ENDED")
  void gone_afterTheLease_isToldAsItsEnd() throws Exception {
    acquireSome();
    Hold hold = holds.get(0);
    CompletableFuture<Boolean> mayCome = new CompletableFuture<>();
    store.answers = right -> right.thenCombine(mayCome, (answers, now) -> gone(answers));
    clock.advance(LEASE.dividedBy(3));
    clock.suspend(LEASE);
    mayCome.complete(true);
    assertReason(hold, LossReason.LEASE_ENDED);
  }

  /** The machine slept for most of the lease: it is renewed as soon as that is noticed, within a second. */
  @Test
  void slept_isRenewedAtOnce() throws Exception {
    acquireSome();
    clock.advance(Duration.ofSeconds(1));
    clock.suspend(Duration.ofSeconds(25));
    clock.advance(Duration.ofSeconds(1));
    assertRenewedBefore(Duration.ofSeconds(2));
  }

  /** It slept while a renewal was under way: the answer is about a lease that is old by then. */
  @Test
  void slept_whileRenewing_isRenewedAtOnce() throws Exception {
    acquireSome();
    CompletableFuture<Boolean> awake = new CompletableFuture<>();
    store.answers = right -> right.thenCombine(awake, (answers, now) -> answers);
    clock.advance(LEASE.dividedBy(3));
    clock.suspend(Duration.ofSeconds(18));
    clock.advance(Duration.ofSeconds(1));
    store.answers = right -> right;
    awake.complete(true);
    clock.advance(Duration.ofSeconds(1));
    assertRenewedBefore(Duration.ofSeconds(2));
  }

  /** It slept while the lock was asked for. */
  @Test
  void slept_whileAcquiring_isRenewedAtOnce() throws Exception {
    CompletableFuture<Boolean> awake = new CompletableFuture<>();
    store.attempts = right -> right.thenCombine(awake, (answer, now) -> answer);
    CompletableFuture<Hold> acquired = holdfast.lock("slow").acquireAsync().toCompletableFuture();
    clock.suspend(Duration.ofSeconds(25));
    clock.advance(Duration.ofSeconds(1));
    awake.complete(true);
    holds.add(acquired.get());
    clock.advance(Duration.ofSeconds(1));
    assertRenewedBefore(Duration.ofSeconds(2));
  }

  private void assertRenewedBefore(Duration ago) {
    assertThat(holds).isNotEmpty().allSatisfy(hold -> {
      assertThat(hold.state()).isEqualTo(HoldState.HELD);
      assertThat(hold.remaining()).isGreaterThan(validFor(LEASE).minus(ago));
    });
  }

  private static Map<ClaimId, Kept> gone(Map<ClaimId, Kept> answers) {
    Map<ClaimId, Kept> gone = new HashMap<>();
    answers.keySet().forEach(claim -> gone.put(claim, new Kept.Gone()));
    return gone;
  }

  private static void assertReason(Hold hold, LossReason reason) {
    assertThatThrownBy(hold::ensureValid)
        .isInstanceOfSatisfying(
            HoldLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason));
  }

  private void acquireSome() throws InterruptedException {
    for (String name : List.of("one", "two", "three")) {
      holds.add(holdfast.lock(name).acquire());
    }
  }

  private static Duration validFor(Duration lease) {
    return lease.minus(lease.dividedBy(100)).minusMillis(10);
  }

  private static Moment earlier(Moment moment, Duration by) {
    return new Moment(moment.nanos() - by.toNanos(), moment.wallMillis() - by.toMillis());
  }

  private static UnaryOperator<CompletionStage<Map<ClaimId, Kept>>> granting(
      UnaryOperator<Grant> change) {
    return right -> right.thenApply(answers -> {
      Map<ClaimId, Kept> changed = new HashMap<>();
      answers.forEach((id, kept) -> changed.put(
          id, kept instanceof Kept.Held held ? new Kept.Held(change.apply(held.grant())) : kept));
      return changed;
    });
  }

  /** Keeps as it should, and answers as the test says. */
  private static final class Tampered extends ForwardingStore {
    final List<ClaimId> claims = new ArrayList<>();
    UnaryOperator<CompletionStage<Map<ClaimId, Kept>>> answers = right -> right;
    UnaryOperator<CompletionStage<Answer>> attempts = right -> right;
    int keeps;

    Tampered(MemoryDatabase database) {
      super(new MemoryStore(database));
    }

    @Override
    public CompletionStage<Answer> attempt(Claim claim, Mode mode, Instant giveUpAt) {
      claims.add(claim.id());
      return attempts.apply(super.attempt(claim, mode, giveUpAt));
    }

    @Override
    public CompletionStage<Map<ClaimId, Kept>> keep(Collection<Claim> some) {
      keeps++;
      return answers.apply(super.keep(some));
    }
  }
}
