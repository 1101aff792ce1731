// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.ConfigurationException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.JavaLock;
import io.holdfast.LockEvent;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that answers, but not so that it is of use: callers are told in time, and it is not asked without a pause. */
class StoreTroubleTest {
  private static final String NAME = OddStore.LOCK;
  private static final Duration LEASE = LockOptions.DEFAULT_LEASE;
  private static final Duration REQUEST = Duration.ofSeconds(2);

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final OddStore odd = new OddStore(database);
  private final FaultyStore store = new FaultyStore(odd);
  private final Faults faults = store.faults();
  private final List<LockEvent.Retrying> retries = new ArrayList<>();
  private final Holdfast holdfast = Holdfast.builder()
      .store(store)
      .requestTimeout(REQUEST)
      .listener(this::listen)
      .ticker(clock)
      .scheduler(clock)
      .callbackExecutor(Runnable::run)
      .build();

  private void listen(LockEvent event) {
    if (event instanceof LockEvent.Retrying retrying) {
      retries.add(retrying);
    }
  }

  @AfterEach
  void close() {
    faults.heal();
    holdfast.close();
  }

  private DistributedLock lock(boolean fair) {
    return holdfast.lock(NAME, LockOptions.builder().fair(fair).build());
  }

  /** Every grant arrives when its lease has ended: a wait without a limit gives up as it does on a silent store. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void grantsThatAlwaysComeTooLate_endAWaitWithoutALimit(boolean fair) {
    odd.grantsAreOldBy = LEASE;
    CompletableFuture<Hold> waiting = lock(fair).acquireAsync();
    clock.advance(Duration.ofSeconds(29));
    assertThat(waiting).isNotDone();
    assertThat(faults.requests(Verb.ATTEMPT)).as("with pauses").isBetween(30, 80);
    clock.advance(Duration.ofSeconds(2));
    assertThat(Await.failure(waiting))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("lease had ended");
    odd.grantsAreOldBy = Duration.ZERO;
    assertThat(lock(fair).tryAcquire()).as("nothing is left of it").isPresent();
  }

  /** Waiting loses nothing while the store says for how long. */
  @Test
  void storeThatSaysWhenItCanServe_isWaitedForWithoutALimit() {
    odd.failure = notReady(Duration.ofMinutes(10));
    CompletableFuture<Hold> waiting = lock(false).acquireAsync();
    clock.advance(Duration.ofMinutes(5));
    assertThat(waiting).isNotDone();
    assertThat(retries)
        .as("with pauses")
        .hasSizeBetween(400, 1000)
        .allSatisfy(retry -> assertThat(retry)
            .isEqualTo(
                new LockEvent.Retrying(NAME, retry.why(), Optional.of(Duration.ofMinutes(10)))))
        .allSatisfy(retry -> assertThat(retry.why()).contains("no client may have it yet"));
    assertThatThrownBy(() -> clock.whileTimePasses(lock(false)::tryAcquire))
        .hasMessageContaining("no client may have it yet");
    assertThatThrownBy(
            () -> clock.whileTimePasses(() -> lock(false).acquire(Duration.ofSeconds(3))))
        .hasMessageContaining("no client may have it yet");
    odd.failure = null;
    clock.advance(Duration.ofSeconds(1));
    assertThat(waiting).isCompleted();
  }

  /** Also by a client that does not wait for stores in trouble. */
  @Test
  void storeThatSaysWhenItCanServe_isWaitedFor_whereNothingIsRetried() {
    OddStore own = new OddStore(database);
    try (Holdfast impatient = Holdfast.builder()
        .store(own)
        .storeRetryFor(Duration.ZERO)
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(Runnable::run)
        .build()) {
      own.failure = notReady(Duration.ofMinutes(10));
      CompletableFuture<Hold> waiting = impatient.lock(NAME).acquireAsync();
      clock.advance(Duration.ofMinutes(1));
      assertThat(waiting).isNotDone();
      own.failure = null;
      clock.advance(Duration.ofSeconds(1));
      assertThat(waiting).isCompleted();
    }
  }

  /** Once it has named a time, another one that comes later is no reason to wait on. */
  @Test
  void storeThatPutsOffAgainAndAgain_isGivenUp() {
    odd.failure = notReady(Duration.ofMinutes(1));
    CompletableFuture<Hold> waiting = lock(false).acquireAsync();
    clock.advance(Duration.ofSeconds(89));
    assertThat(waiting).isNotDone();
    clock.advance(Duration.ofSeconds(3));
    assertThat(Await.failure(waiting)).hasMessageContaining("no client may have it yet");
  }

  /** The client is closing, and ends one claim after the other; attempts of those that are left fail meanwhile. */
  @Test
  void attemptsThatFail_whileTheClientCloses_areNotTold() {
    Hold held = Await.value(lock(false).acquireAsync());
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    odd.answer = answer;
    List<CompletableFuture<Hold>> waiting = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      waiting.add(holdfast.lock(NAME + i).acquireAsync());
    }
    odd.atEnd = () -> answer.completeExceptionally(notReady(Duration.ofMinutes(1)));
    holdfast.close();
    assertThat(held.isValid()).isFalse();
    assertThat(answer).isDone();
    assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
    assertThat(retries).isEmpty();
  }

  /** From its last word on, it is a store that fails like any other. */
  @Test
  void storeThatSaidWhenItCanServe_thenOnlyFails_isGivenUp() {
    odd.failure = notReady(Duration.ofMinutes(10));
    CompletableFuture<Hold> waiting = lock(false).acquireAsync();
    clock.advance(Duration.ofMinutes(5));
    odd.failure =
        new StoreException("it is gone", StoreUnavailableException.Reason.UNREACHABLE, true, null);
    clock.advance(Duration.ofSeconds(29));
    assertThat(waiting).isNotDone();
    assertThat(retries).last().extracting(LockEvent.Retrying::readyIn).isEqualTo(Optional.empty());
    clock.advance(Duration.ofSeconds(2));
    assertThat(Await.failure(waiting)).hasMessageContaining("it is gone");
  }

  private static StoreException notReady(Duration readyIn) {
    return new StoreException(
        "no client may have it yet",
        StoreUnavailableException.Reason.UNREACHABLE,
        true,
        null,
        readyIn);
  }

  /** What runs work says of a store in trouble what acquiring says, and the work has not run. */
  @Test
  void workThatIsToRun_isToldWhatAcquiringIs() {
    faults.on(Verb.ATTEMPT).loseRequest();
    assertNothingRuns(AcquireUnknownException.class);
    faults.heal();
    faults.on(Verb.ATTEMPT).fail();
    assertNothingRuns(StoreUnavailableException.class);
  }

  private void assertNothingRuns(Class<? extends Exception> told) {
    DistributedLock lock = lock(false);
    JavaLock view = lock.asJavaLock();
    List<Callable<Boolean>> calls = List.of(
        () -> lock.tryRun(hold -> Assertions.fail("it ran")),
        () -> {
          lock.run(hold -> Assertions.fail("it ran"));
          return true;
        },
        () -> lock.call(hold -> Assertions.fail("it ran")),
        () -> {
          view.lockInterruptibly();
          return true;
        });
    for (Callable<Boolean> call : calls) {
      assertThatThrownBy(() -> clock.whileTimePasses(call)).isInstanceOf(told);
    }
  }

  /** It could never begin: the hold that it waits for is that of the thread that waits. */
  @Test
  void workUnderOnesOwnHold_isRefused() throws Exception {
    DistributedLock lock = lock(false);
    try (Hold hold = lock.acquire()) {
      assertThatThrownBy(() -> lock.run(inner -> {})).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> lock.call(Hold::token)).isInstanceOf(IllegalStateException.class);
      assertThat(hold.isValid()).isTrue();
    }
    holdfast.close();
    assertThatThrownBy(() -> lock.call(Hold::token)).isInstanceOf(IllegalStateException.class);
  }

  /** As above, for calls that have a limit, or do not wait. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void grantsThatAlwaysComeTooLate_endOtherCalls(boolean fair) {
    odd.grantsAreOldBy = LEASE;
    assertThatThrownBy(lock(fair)::tryAcquire).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> clock.whileTimePasses(() -> lock(fair).acquire(Duration.ofSeconds(3))))
        .isInstanceOf(StoreUnavailableException.class);
  }

  /** The claim that was granted too late is ended slowly: the next one waits behind it, and is granted too late as well. */
  @Test
  void grantThatComesTooLate_toAWaiter() {
    odd.grantsAreOldBy = LEASE;
    faults.on(Verb.END).once().delayRequest(Duration.ofMillis(500));
    CompletableFuture<Hold> waiting = lock(false).acquireAsync();
    clock.advance(Duration.ofSeconds(2));
    assertThat(faults.requests(Verb.ATTEMPT)).isGreaterThan(1);
    assertThat(waiting).isNotDone();
    odd.grantsAreOldBy = Duration.ZERO;
    clock.advance(Duration.ofSeconds(2));
    assertThat(Await.value(waiting).isValid()).isTrue();
  }

  /** One grant comes too late, the next one in time: the wait goes on, and ends well. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneGrantThatComesTooLate_isAskedForAgain(boolean fair) {
    odd.grantsAreOldBy = LEASE;
    CompletableFuture<Hold> waiting = lock(fair).acquireAsync();
    assertThat(waiting).isNotDone();
    odd.grantsAreOldBy = Duration.ZERO;
    clock.advance(Duration.ofMillis(20));
    assertThat(Await.value(waiting).isValid()).isTrue();
  }

  /** A try on a store that refuses is made again after a pause, for whoever is back within a request's time. */
  @Test
  void tryOnAStoreThatRefuses_isMadeAgain() {
    faults.on(Verb.ATTEMPT).times(3).fail();
    CompletableFuture<Optional<Hold>> tried = lock(false).tryAcquireAsync();
    assertThat(tried).isNotDone();
    clock.advance(REQUEST.dividedBy(2));
    assertThat(Await.value(tried)).isPresent();
    assertThat(faults.requests(Verb.ATTEMPT)).isEqualTo(4);
  }

  /** On one that goes on refusing, its caller is told within the time of a request, and not at the first refusal. */
  @Test
  void tryOnAStoreThatGoesOnRefusing_ends() {
    faults.on(Verb.ATTEMPT).fail();
    CompletableFuture<Optional<Hold>> tried = lock(false).tryAcquireAsync();
    clock.advance(REQUEST.dividedBy(4));
    assertThat(tried).isNotDone();
    clock.advance(REQUEST.dividedBy(4).multipliedBy(3));
    assertThat(Await.failure(tried)).isInstanceOf(StoreUnavailableException.class);
  }

  /**
   * A fair request whose claim was granted too late asks anew, and is still known as one that waits: a lock that this
   * process has goes to it through the store, not past it to a request that came later.
   */
  @Test
  void fairRequest_thatAskedAnew_keepsItsTurn() throws Exception {
    odd.grantsAreOldBy = LEASE;
    CompletableFuture<Hold> first = lock(true).acquireAsync();
    odd.grantsAreOldBy = Duration.ZERO;
    Hold hold = lock(false).tryAcquire().orElseThrow();
    clock.advance(Duration.ofMillis(20));
    assertThat(first).isNotDone();
    CompletableFuture<Hold> second = lock(false).acquireAsync();
    assertThat(hold.release()).isTrue();
    assertThat(first).isDone();
    assertThat(second).isNotDone();
    assertThat(first.join().release()).isTrue();
    assertThat(Await.value(second).release()).isTrue();
  }

  /** As above, and the client closes: the request hears of it. */
  @Test
  void fairRequest_thatAskedAnew_endsWithTheClient() {
    odd.grantsAreOldBy = LEASE;
    CompletableFuture<Hold> waiting = lock(true).acquireAsync();
    clock.advance(Duration.ofMillis(50));
    assertThat(waiting).isNotDone();
    holdfast.close();
    assertThat(Await.failure(waiting))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  /** The store's module cannot tell the time: a typed failure, and the lock can be had once it can. */
  @Test
  void timeThatThrows_isAStoreThatIsNotThere() throws Exception {
    odd.timeFails = true;
    assertThatThrownBy(() -> clock.whileTimePasses(lock(false)::tryAcquire))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("no time for the test");
    assertThatThrownBy(
            () -> clock.whileTimePasses(() -> lock(false).acquire(Duration.ofSeconds(1))))
        .isInstanceOf(StoreUnavailableException.class);
    CompletableFuture<Hold> waiting = lock(false).acquireAsync();
    clock.advance(Duration.ofSeconds(10));
    assertThat(waiting).isNotDone();
    assertThat(faults.requests(Verb.ATTEMPT)).isZero();
    odd.timeFails = false;
    clock.advance(Duration.ofSeconds(1));
    assertThat(Await.value(waiting).release()).isTrue();
  }

  /** As above, at the release of a hold of which an attempt is still under way: the release returns all the same. */
  @Test
  @Warns("does not tell the time")
  void timeThatThrows_atARelease() {
    faults.on(Verb.ATTEMPT).once().holdBack();
    CompletableFuture<Hold> waiting = lock(false).acquireAsync();
    clock.advance(Duration.ofMillis(2_500));
    Hold hold = Await.value(waiting);
    odd.timeFails = true;
    CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(hold::release);
    assertThat(Await.value(released)).isTrue();
    odd.timeFails = false;
    clock.advance(Duration.ofSeconds(3));
    assertThat(faults.requests(Verb.END)).as("until it is final").isEqualTo(2);
  }

  /**
   * A waiter that cannot be ended is handed the lock when its place in the queue has almost run out: the store is asked to
   * end it until it must have lost the lock too.
   */
  @Test
  @Warns("did not confirm its end")
  void waiterThatCannotBeEnded_isNotGivenUpWhileItMayHaveTheLock() throws Exception {
    Duration brief = Duration.ofSeconds(4);
    Duration inQueue = odd.traits().waiterLease();
    try (Holdfast other = Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(clock)
        .callbackExecutor(Runnable::run)
        .build()) {
      Hold hold = other.lock(NAME).acquire();
      LockOptions options = LockOptions.builder().leaseFor(brief).build();
      CompletableFuture<Hold> waiter = holdfast.lock(NAME, options).acquireAsync();
      faults.on(Verb.ATTEMPT, Verb.KEEP, Verb.END, Verb.OWN).loseRequest();
      assertThat(waiter.cancel(false)).isTrue();
      clock.advance(inQueue.minusMillis(10));
      assertThat(hold.release()).isTrue();
      clock.advance(brief.minusMillis(10));
      assertThat(isTaken(other)).as("handed to the waiter that is gone").isTrue();
      assertThat(faults.requests(Verb.OWN)).as("given up").isZero();
      int asked = faults.requests(Verb.END);
      clock.advance(REQUEST);
      assertThat(faults.requests(Verb.END)).isGreaterThan(asked);
      assertThat(isTaken(other)).isFalse();
      clock.advance(inQueue);
      assertThat(faults.requests(Verb.OWN)).as("given up").isPositive();
    }
  }

  private static boolean isTaken(Holdfast client) {
    return client.admin().inspect(NAME).filter(LockInfo::isTaken).isPresent();
  }

  /** A store that stays silent is asked ever more rarely what it still has, and soon again when it is back. */
  @Test
  @Warns("did not confirm its end")
  void reconciler_asksEverMoreRarely() throws Exception {
    Hold hold = lock(false).acquire();
    faults.on(Verb.END, Verb.OWN).loseRequest();
    assertThatThrownBy(() -> clock.whileTimePasses(hold::release))
        .isInstanceOf(StoreUnavailableException.class);
    clock.advance(LEASE.plusSeconds(10));
    int before = faults.requests(Verb.OWN);
    assertThat(before).isBetween(1, 5);
    clock.advance(Duration.ofMinutes(30));
    assertThat(faults.requests(Verb.OWN) - before).as("about one a minute").isBetween(28, 50);
    faults.heal();
    int silent = faults.requests(Verb.OWN);
    clock.advance(Duration.ofMinutes(10));
    assertThat(faults.requests(Verb.OWN) - silent).as("until it is answered").isEqualTo(1);
  }

  /** An answer that comes after the question was asked again is an answer. */
  @Test
  @Warns("did not confirm its end")
  void reconciler_isContentWithASlowAnswer() throws Exception {
    Hold hold = lock(false).acquire();
    faults.on(Verb.END).loseRequest();
    faults.on(Verb.OWN).delayReply(Duration.ofSeconds(25));
    assertThatThrownBy(() -> clock.whileTimePasses(hold::release))
        .isInstanceOf(StoreUnavailableException.class);
    clock.advance(Duration.ofMinutes(10));
    assertThat(faults.requests(Verb.OWN)).isBetween(1, 8);
  }

  /** The connection comes back: the store is asked at once, however long the pauses have become. */
  @Test
  @Warns("did not confirm its end")
  void reconciler_startsAnewWhenTheConnectionIsBack() throws Exception {
    Hold hold = lock(false).acquire();
    faults.on(Verb.END, Verb.OWN).loseRequest();
    assertThatThrownBy(() -> clock.whileTimePasses(hold::release))
        .isInstanceOf(StoreUnavailableException.class);
    clock.advance(Duration.ofMinutes(10));
    int before = faults.requests(Verb.OWN);
    odd.restored();
    clock.advance(Duration.ofSeconds(10));
    assertThat(faults.requests(Verb.OWN) - before).isBetween(2, 4);
  }

  /**
   * Where one of several servers refuses what it is asked, each answer of another one says that the connection works again. What
   * waits does not ask at that pace, and forgotten claims are looked for all the same.
   */
  @Test
  @Warns("forgotten claim ended")
  void connectionThatComesBackAgainAndAgain_isHeededOnceInARequestsTime() throws Exception {
    CompletableFuture<Hold> waiting;
    try (Holdfast other = Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(clock)
        .build()) {
      Hold held = Await.value(other.lock(NAME).acquireAsync());
      assertThat(lock(false).tryAcquire()).isEmpty();
      ClaimId forgotten = Objects.requireNonNull(odd.attempted);
      odd.forgotten = forgotten;
      waiting = lock(false).acquireAsync();
      int before = faults.requests(Verb.ATTEMPT);
      for (int i = 0; i < 100; i++) {
        odd.restored();
        clock.advance(Duration.ofMillis(100));
      }
      assertThat(faults.requests(Verb.ATTEMPT) - before)
          .as("at once, and every 2 s in 10 s")
          .isEqualTo(6);
      assertThat(odd.ended).containsOnly(new OddStore.End(forgotten, Duration.ZERO));
      assertThat(held.isValid()).isTrue();
      assertThat(waiting).isNotDone();
      odd.forgotten = null;
    }
    clock.advance(Duration.ofSeconds(2));
    assertThat(waiting).isCompleted();
  }

  /** What the store has of this client and the engine does not know is ended; what it knows is left alone. */
  @Test
  @Warns("forgotten claim ended")
  void reconciler_endsWhatIsForgotten_andNothingElse() throws Exception {
    ClaimId forgotten = forgetAReleasedClaim();
    Hold hold = lock(false).acquire();
    odd.restored();
    clock.advance(Duration.ofSeconds(10));
    assertThat(odd.ended).containsExactly(new OddStore.End(forgotten, Duration.ZERO));
    assertThat(hold.isValid()).isTrue();
  }

  /** The store lists from now on a claim that was released, and no end of it is noted yet. */
  private ClaimId forgetAReleasedClaim() throws InterruptedException {
    assertThat(lock(false).acquire().release()).isTrue();
    ClaimId released = Objects.requireNonNull(odd.attempted);
    odd.forgotten = released;
    odd.ended.clear();
    return released;
  }

  /** An end that fails is asked for again when a list has the claim again, and no more when it was confirmed. */
  @Test
  @Warns("forgotten claim ended")
  void reconciler_endsWhatIsForgotten_whenAnEndFailed() throws Exception {
    ClaimId forgotten = forgetAReleasedClaim();
    faults.on(Verb.END).fail();
    odd.restored();
    clock.advance(Duration.ofMinutes(1));
    assertThat(faults.requests(Verb.END)).isGreaterThan(2);
    assertThat(odd.ended).isEmpty();
    faults.heal();
    clock.advance(Duration.ofMinutes(2));
    assertThat(odd.ended).containsExactly(new OddStore.End(forgotten, Duration.ZERO));
  }

  /** The store was asked before a release, and the lists come after it: what the release has kept stays taken. */
  @Test
  void reconciler_leavesAloneWhatEndsWhileAListComes() throws Exception {
    Duration kept = LEASE.multipliedBy(10);
    LockOptions options = LockOptions.builder().holdAtLeast(kept).build();
    Hold hold = holdfast.lock(NAME, options).acquire();
    ClaimId listed = Objects.requireNonNull(odd.attempted);
    odd.forgotten = listed;
    CompletableFuture<Boolean> first = new CompletableFuture<>();
    odd.lists = first;
    odd.restored();
    passUntilAsked(1);
    CompletableFuture<Boolean> second = new CompletableFuture<>();
    odd.lists = second;
    passUntilAsked(2);
    odd.forgotten = null;
    odd.lists = CompletableFuture.completedFuture(true);
    assertThat(hold.release()).isTrue();
    first.complete(true);
    second.complete(true);
    clock.advance(Duration.ofSeconds(20));
    assertThat(odd.ended).containsExactly(new OddStore.End(listed, kept));
    assertThat(faults.requests(Verb.OWN)).as("asked once more").isEqualTo(3);
  }

  private void passUntilAsked(int times) {
    for (int i = 0; i < 1000 && faults.requests(Verb.OWN) < times; i++) {
      clock.advance(Duration.ofMillis(100));
    }
    assertThat(faults.requests(Verb.OWN)).isEqualTo(times);
  }

  /** The claims of a busy client end while lists come, and are made anew: that wants no further round. */
  @Test
  void reconciler_asksNoMoreForClaimsThatComeAndGo() throws Exception {
    CompletableFuture<Boolean> late = new CompletableFuture<>();
    odd.lists = late;
    odd.restored();
    Hold hold = lock(false).acquire();
    odd.forgotten = odd.attempted;
    clock.advance(Duration.ofSeconds(5));
    int asked = faults.requests(Verb.OWN);
    assertThat(asked).as("asked, and not answered yet").isPositive();
    assertThat(hold.release()).isTrue();
    late.complete(true);
    clock.advance(Duration.ofMinutes(1));
    assertThat(faults.requests(Verb.OWN)).isEqualTo(asked);
  }

  /**
   * A release that was to keep the lock was given up, and the store still has the claim, as one does whose session outlived
   * the lease: it is ended as it was to be, until that is confirmed, and nothing is remembered after that.
   */
  @Test
  @Warns({"did not confirm its end", "forgotten claim ended"})
  void reconciler_keepsWhatAReleaseWasToKeep() throws Exception {
    Duration kept = LEASE.multipliedBy(10);
    LockOptions options = LockOptions.builder().holdAtLeast(kept).build();
    Hold hold = holdfast.lock(NAME, options).acquire();
    ClaimId claim = Objects.requireNonNull(odd.attempted);
    odd.forgotten = claim;
    faults.on(Verb.END).loseRequest();
    assertThatThrownBy(() -> clock.whileTimePasses(hold::release))
        .isInstanceOf(StoreUnavailableException.class);
    clock.advance(LEASE.multipliedBy(2));
    assertThat(faults.requests(Verb.OWN)).as("found, and not ended yet").isPositive();
    faults.heal();
    clock.advance(Duration.ofMinutes(2));
    assertThat(odd.ended).containsExactly(new OddStore.End(claim, kept));
    odd.ended.clear();
    odd.restored();
    clock.advance(Duration.ofSeconds(10));
    assertThat(odd.ended).containsExactly(new OddStore.End(claim, Duration.ZERO));
  }

  /** A list that was asked for earlier, and comes when a later one was answered, says nothing: what it has may be kept by now. */
  @Test
  @Warns("did not confirm its end")
  void reconciler_leavesAnOlderListAlone() throws Exception {
    LockOptions options =
        LockOptions.builder().holdAtLeast(LEASE.multipliedBy(10)).build();
    Hold hold = holdfast.lock(NAME, options).acquire();
    odd.forgotten = odd.attempted;
    faults.on(Verb.END).loseRequest();
    assertThatThrownBy(() -> clock.whileTimePasses(hold::release))
        .isInstanceOf(StoreUnavailableException.class);
    CompletableFuture<Boolean> late = new CompletableFuture<>();
    odd.lists = late;
    clock.advance(LEASE.multipliedBy(2));
    assertThat(faults.requests(Verb.OWN)).as("asked, and not answered yet").isPositive();
    faults.heal();
    odd.ended.clear();
    odd.forgotten = null;
    odd.lists = CompletableFuture.completedFuture(true);
    clock.advance(Duration.ofMinutes(2));
    int asked = faults.requests(Verb.OWN);
    late.complete(true);
    clock.advance(Duration.ofMinutes(2));
    assertThat(odd.ended).isEmpty();
    assertThat(faults.requests(Verb.OWN)).as("nor wants another one").isEqualTo(asked);
  }

  /** What no waiting mends is told at once, and whose fault it is. */
  @Test
  void storeThatIsNotUsable_isToldToEveryCall() {
    odd.unusable = true;
    List<Callable<?>> calls = List.of(
        () -> lock(false).acquire(),
        () -> lock(false).acquire(Duration.ofMinutes(1)),
        () -> lock(false).tryAcquire(),
        () -> lock(false).tryAcquire(Duration.ofMinutes(1)));
    for (Callable<?> call : calls) {
      assertThatThrownBy(call::call)
          .isInstanceOf(ConfigurationException.class)
          .hasMessageContaining("for the test");
    }
  }
}
