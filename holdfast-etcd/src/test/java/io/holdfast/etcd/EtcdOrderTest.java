// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.grpc.Status;
import io.holdfast.Holder;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests overtake each other, fail half-way, and lose their answers; and what of it stays on this side. */
class EtcdOrderTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Duration KEEP_FOR = Duration.ofMinutes(50);
  private static final Holder HOLDER = new Holder("test", "here", 1, "main", "");
  private static final URI SERVER =
      URI.create("http://" + EtcdUnderTest.server().endpoint());

  private final String prefix = EtcdUnderTest.nextPrefix();
  private final Calls calls = new Calls();
  private final SteppedTicker ticker = new SteppedTicker();
  private final RecordingStart engine = new RecordingStart(ticker);
  private final Client operator = Client.builder().endpoints(List.of(SERVER)).build();
  private final Client client =
      Client.builder().endpoints(List.of(SERVER)).interceptor(calls).build();
  private final EtcdStore store =
      EtcdStore.using(client, EtcdSettings.builder().prefix(prefix).build());
  private final LockKey name = LockKey.of("job");
  private final EtcdContext context;
  private final Map<ClaimId, ByteSequence> keyOf = new HashMap<>();
  private long claims;

  EtcdOrderTest() {
    store.start(engine.runtime(), engine);
    Await.value(store.connect().thenApply(nothing -> true));
    context = store.context();
  }

  @AfterEach
  void close() {
    store.close();
    client.close();
    operator.close();
  }

  private Claim claim() {
    return claim(LEASE);
  }

  private Claim claim(Duration lease) {
    return new Claim(
        new ClaimId(engine.runtime().client(), ++claims), name, 1, 1, lease, false, HOLDER);
  }

  private Instant soon() {
    return store.time().plusSeconds(60);
  }

  private Answer attempt(Claim claim, Mode mode) {
    Answer answer = Await.value(store.attempt(claim, mode, soon()));
    context.known(claim.id()).ifPresent(mine -> keyOf.put(claim.id(), mine.key));
    return answer;
  }

  private void grant(Claim claim) {
    assertThat(attempt(claim, Mode.QUEUE)).isInstanceOf(Answer.Granted.class);
  }

  private Ended end(Claim claim) {
    return end(claim, Duration.ZERO);
  }

  private Ended end(Claim claim, Duration keepFor) {
    return Await.value(store.end(claim, keepFor, Instant.MIN));
  }

  private Kept keep(Claim claim) {
    return Await.value(store.keep(List.of(claim))).getOrDefault(claim.id(), new Kept.Unknown());
  }

  private List<KeyValue> keys() {
    ByteSequence all = ByteSequence.from(prefix + "lock/", StandardCharsets.UTF_8);
    GetOption option = GetOption.builder().isPrefix(true).build();
    return Await.value(operator.getKVClient().get(all, option)).getKvs();
  }

  /** Remembers the key of a claim while the store knows it. */
  private ByteSequence note(Claim claim) {
    context.known(claim.id()).ifPresent(mine -> keyOf.put(claim.id(), mine.key));
    return Objects.requireNonNull(keyOf.get(claim.id()));
  }

  private KeyValue key(Claim claim) {
    ByteSequence key = note(claim);
    return keys().stream().filter(each -> each.getKey().equals(key)).findFirst().orElseThrow();
  }

  private static boolean isKept(KeyValue key) {
    return EtcdValue.read(key.getKey(), key.getValue()).kind() == EtcdValue.Kind.KEPT;
  }

  private static Status noSpace() {
    return Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: mvcc: database space exceeded");
  }

  private static Status broken() {
    return Status.UNAVAILABLE.withDescription("the connection broke");
  }

  // moves

  /** A waiter's move to the waiters' lease is under way when its turn comes: the hold's key stays under the hold's lease. */
  @Test
  void moveThatComesLate_leavesTheHoldItsLease() {
    Claim holder = claim();
    grant(holder);
    long ofHolds = key(holder).getLease();
    Claim waiter = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 1);
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Calls.Parked<?, ?> move = Await.value(parked);
    end(holder);
    assertThat(keep(waiter)).isInstanceOf(Kept.Held.class);
    Await.value(move.letGo());
    assertThat(key(waiter).getLease()).isEqualTo(ofHolds);
    assertThat(keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(key(waiter).getLease()).isEqualTo(ofHolds);
    end(waiter);
  }

  @Test
  void moveThatComesLate_leavesAKeptLock() {
    Claim holder = claim();
    grant(holder);
    Claim waiter = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 1);
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Calls.Parked<?, ?> move = Await.value(parked);
    end(holder);
    assertThat(keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(end(waiter, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = key(waiter);
    Await.value(move.letGo());
    assertThat(isKept(key(waiter))).isTrue();
    assertThat(key(waiter).getModRevision()).isEqualTo(kept.getModRevision());
  }

  /** A move without an answer may have been applied, or not: the next keep makes sure. */
  @Test
  void moveWhoseAnswerIsLost_isMadeSure() {
    Claim holder = claim();
    grant(holder);
    long ofHolds = key(holder).getLease();
    Claim waiter = claim();
    calls.lose("Txn", 1);
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Await.until("it was applied", () -> key(waiter).getLease() != ofHolds);
    end(holder);
    assertThat(keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(key(waiter).getLease()).isEqualTo(ofHolds);
    end(waiter);
  }

  /** A grant under the waiters' lease promises two seconds of it: the hold's own lease, begun before, must not end first. */
  @Test
  void moveToTheHoldsLease_doesNotEndWhatWasPromised() {
    Duration brief = Duration.ofSeconds(2);
    Claim holder = claim(brief);
    grant(holder);
    ticker.pass(brief.dividedBy(20));
    Claim waiter = claim(brief);
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    end(holder);
    Await.until("it is granted", () -> !engine.told.isEmpty());
    EtcdLease.Term promised = Objects.requireNonNull(context.waiting.current());
    calls.lose("Txn", 1);
    assertThat(keep(waiter)).isInstanceOf(Kept.Unknown.class);
    EtcdLease.Term own = Objects.requireNonNull(context.lease(brief).current());
    assertThat(key(waiter).getLease()).as("it was applied").isEqualTo(own.id);
    assertThat(own.anchor().nanos()).isGreaterThanOrEqualTo(promised.anchor().nanos());
    end(waiter);
  }

  /** Asked again under the same claim, the key stays as it is, also if the first request is the later one to arrive. */
  @Test
  void attemptThatComesLate_leavesTheKeyAsItIs() {
    Claim holder = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
    CompletionStage<Answer> first = store.attempt(holder, Mode.QUEUE, soon());
    Calls.Parked<?, ?> late = Await.value(parked);
    grant(holder);
    Await.value(late.letGo());
    assertThat(Await.value(first)).isInstanceOf(Answer.Granted.class);
    assertThat(key(holder).getVersion()).isEqualTo(1);
    end(holder);
  }

  /** Who hears of its lease last does not put keys under it that another, later one keeps longer. */
  @Test
  void leaseThatIsAnsweredLate_isNotUsed() {
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("LeaseGrant", 0);
    CompletableFuture<EtcdLease.Term> first = context.lease(LEASE).young();
    Calls.Parked<?, ?> late = Await.value(parked);
    ticker.pass(Duration.ofSeconds(10));
    EtcdLease.Term second = Await.value(context.lease(LEASE).young());
    Await.value(late.letGo());
    assertThat(Await.value(first)).isSameAs(second);
    assertThat(context.lease(LEASE).current()).isSameAs(second);
  }

  // attempts and ends

  /** An attempt that its end called off fails for the epoch only, and is not sent again. */
  @Test
  void attemptThatWasCalledOff_isNotRepeated() {
    Claim claim = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
    CompletionStage<Answer> asked = store.attempt(claim, Mode.QUEUE, soon());
    Calls.Parked<?, ?> late = Await.value(parked);
    Ended ended = end(claim);
    assertThat(ended.outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(ended.isFinal()).isTrue();
    Await.value(late.letGo());
    assertThat(Await.value(asked)).isInstanceOf(Answer.Late.class);
    assertThat(keys()).isEmpty();
    assertThat(context.remembered()).isZero();
  }

  /** The end comes while the attempt's lease is being asked for: nothing is sent any more. */
  @Test
  void attemptThatWasEndedBeforeItIsSent_isLate() {
    Claim claim = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("LeaseGrant", 0);
    CompletionStage<Answer> asked = store.attempt(claim, Mode.QUEUE, soon());
    Calls.Parked<?, ?> lease = Await.value(parked);
    assertThat(end(claim).isFinal()).isTrue();
    Await.value(lease.letGo());
    assertThat(Await.value(asked)).isInstanceOf(Answer.Late.class);
    assertThat(keys()).isEmpty();
  }

  /** The second step of an attempt is refused: the first was applied all the same. */
  @Test
  void refusedAfterThePut_isNotCalledNotApplied() {
    Claim holder = claim();
    grant(holder);
    Claim waiter = claim();
    calls.refuse("Range", noSpace());
    Throwable failure = Await.failure(store.attempt(waiter, Mode.QUEUE, soon()));
    assertThat(failure).isInstanceOf(StoreException.class).hasMessageContaining("space exceeded");
    assertThat(((StoreException) failure).notApplied()).isFalse();
    assertThat(keys()).hasSize(2);
    assertThat(end(waiter).outcome()).isEqualTo(Outcome.WITHDRAWN);
    calls.refuse("Txn", noSpace());
    Throwable before = Await.failure(store.attempt(waiter, Mode.QUEUE, soon()));
    assertThat(((StoreException) before).notApplied()).isTrue();
    end(holder);
    assertThat(keys()).isEmpty();
  }

  // kept locks

  @Test
  void keptLock_whenTheWallClockSteps_isKeptAsLong() {
    Claim holder = claim();
    grant(holder);
    ticker.stepWall(Duration.ofHours(1));
    assertThat(end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = key(holder);
    assertThat(isKept(kept)).isTrue();
    long left = Await.value(
            operator.getLeaseClient().timeToLive(kept.getLease(), LeaseOption.DEFAULT))
        .getTTL();
    assertThat(left).isBetween(KEEP_FOR.toSeconds() - 100, KEEP_FOR.toSeconds());
  }

  @Test
  void keptLock_hasOneLease_howeverOftenItsEndIsRepeated() {
    Claim holder = claim();
    grant(holder);
    int before = calls.sent("LeaseGrant");
    for (int i = 0; i < 5; i++) {
      calls.refuse("Txn", broken());
      Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    }
    assertThat(end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(calls.sent("LeaseGrant") - before).isEqualTo(1);
  }

  /** An operator ends the lease before it is used: the end that is repeated begins another one. */
  @Test
  void keptLock_whoseLeaseIsGone_getsAnother() {
    Claim holder = claim();
    grant(holder);
    calls.refuse("Txn", broken());
    Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    Await.value(operator
        .getLeaseClient()
        .revoke(context.known(holder.id()).orElseThrow().keptUnder()));
    Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    assertThat(end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(isKept(key(holder))).isTrue();
  }

  /** The end whose answer was lost called the open attempt off: the next one need not wait for it. */
  @Test
  void keptLock_afterALostAnswer_isFinal() {
    Claim holder = claim();
    grant(holder);
    assertThat(context
            .known(holder.id())
            .orElseThrow()
            .sent(Await.value(context.lease(LEASE).young())))
        .isPresent();
    calls.lose("Txn", 0);
    Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    assertThat(isKept(key(holder))).isTrue();
    Ended again = end(holder, KEEP_FOR);
    assertThat(again.outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(again.isFinal()).isTrue();
    assertThat(again.othersWait()).as("not looked at").isTrue();
  }

  /** A lease in its last second has 0 whole ones left, and is still there: its attempts are called off as well. */
  @Test
  void leaseInItsLastSecond_isAlive() {
    Claim claim = claim();
    EtcdClaim mine = context.asking(claim);
    EtcdLease.Term gone = Await.value(context.lease(LEASE).young());
    EtcdLease.Term brief = Await.value(context.waiting.young());
    assertThat(mine.sent(gone)).isPresent();
    assertThat(mine.sent(brief)).isPresent();
    Await.value(operator.getLeaseClient().revoke(gone.id));
    // field 3, TTL, is 0
    byte[] noTimeLeft = {3 << 3, 0};
    for (int i = 0; i < 2; i++) {
      calls.change("LeaseTimeToLive", "TTL: -1", noTimeLeft);
    }
    assertThat(end(claim).isFinal()).isTrue();
    assertThat(brief.epoch).isEqualTo(1);
  }

  // what stays

  @Test
  void claimsThatLeftNothing_areForgotten() {
    Claim holder = claim();
    grant(holder);
    for (int i = 0; i < 200; i++) {
      assertThat(attempt(claim(), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    }
    for (int i = 0; i < 20; i++) {
      calls.refuse("Txn", noSpace());
      Await.failure(store.attempt(claim(), Mode.QUEUE, soon()));
    }
    assertThat(context.remembered()).isEqualTo(1);
    end(holder);
    assertThat(context.remembered()).isZero();
  }

  /** What the engine has given up and the server does not have is nobody's. */
  @Test
  void claimWhoseEndWasGivenUp_isForgotten() {
    Claim claim = claim();
    EtcdClaim mine = context.asking(claim);
    assertThat(mine.sent(Await.value(context.lease(LEASE).young()))).isPresent();
    calls.refuse("Txn", broken());
    Await.failure(store.end(claim, Duration.ZERO, Instant.MIN));
    Await.value(store.own());
    assertThat(context.remembered()).as("while the end may be repeated").isEqualTo(1);
    ticker.pass(LEASE.multipliedBy(2));
    Await.value(store.own());
    assertThat(context.remembered()).isZero();
  }

  /** A key under a lease that was replaced and has not ended is found. */
  @Test
  void own_findsWhatIsUnderAFormerLease() {
    EtcdLease.Term former = Await.value(context.lease(LEASE).young());
    ClaimId forgotten = new ClaimId(engine.runtime().client(), EtcdSeats.FIRST + 77);
    Await.value(operator
        .getKVClient()
        .put(
            new EtcdKeys(prefix).claim(name, forgotten),
            ByteSequence.EMPTY,
            PutOption.builder().withLeaseId(former.id).build()));
    ticker.pass(LEASE.minusSeconds(1));
    assertThat(Await.value(context.lease(LEASE).young())).isNotSameAs(former);
    assertThat(Await.value(store.own())).containsOnlyKeys(forgotten);
    Await.value(operator.getLeaseClient().revoke(former.id));
    assertThat(Await.value(store.own())).isEmpty();
    assertThat(context.lease(LEASE).terms()).hasSize(1);
  }

  // watches

  /** A watch tells something while it is being begun: no second one is begun, and the first is closed. */
  @Test
  void watchThatTellsAtOnce_isBegunOnce() {
    Claim holder = claim();
    grant(holder);
    ByteSequence before = key(holder).getKey();
    Claim waiter = claim();
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Await.until("it watches", () -> calls.openWatches() == 1);
    EtcdClaim mine = context.known(waiter.id()).orElseThrow();
    mine.stopWaiting();
    Await.until("it watches no more", () -> calls.openWatches() == 0);
    int looks = calls.sent("Txn");
    EtcdWait wait = mine.startWaiting(context).orElseThrow();
    calls.during("Watch", () -> {
      CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
      wait.look();
      Await.value(Await.value(parked).letGo());
    });
    wait.begin(before);
    Await.until("it has looked when the watch had begun", () -> calls.sent("Txn") >= looks + 2);
    mine.stopWaiting();
    Await.until("it watches no more", () -> calls.openWatches() == 0);
    end(waiter);
    end(holder);
  }

  /** A store that was closed on the application's client begins no more watches there. */
  @Test
  void closed_whileSomebodyBeginsToWait_leavesNoWatch() {
    Claim holder = claim();
    grant(holder);
    Claim waiter = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
    CompletionStage<Answer> asked = store.attempt(waiter, Mode.QUEUE, soon());
    Calls.Parked<?, ?> late = Await.value(parked);
    store.close();
    Await.value(late.letGo());
    assertThat(Await.value(asked)).isInstanceOf(Answer.Busy.class);
    EtcdContext open = new EtcdContext(
        new EtcdCalls("test", operator, engine), new EtcdKeys(prefix), engine.runtime(), engine);
    EtcdClaim mine = context.known(waiter.id()).orElseThrow();
    assertThat(mine.startWaiting(open)).as("it did not wait").isPresent();
    assertThat(calls.sent("Watch")).isZero();
  }
}
