// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.etcd.jetcd.KeyValue;
import io.grpc.Status;
import io.holdfast.etcd.DrivenEtcd.Late;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests overtake each other, fail half-way, and lose their answers; and what of it stays on this side. */
@Tag("stores")
class EtcdOrderTest {
  private static final Duration LEASE = DrivenEtcd.LEASE;
  private static final Duration KEEP_FOR = Duration.ofMinutes(50);

  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private final EtcdOperator operator = etcd.operator;
  private final Calls calls = etcd.calls;
  private final EtcdStore store = etcd.store;
  private final EtcdContext context = etcd.context;

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
    Claim holder = etcd.holder();
    long ofHolds = etcd.key(holder).getLease();
    Late<Claim> move = etcd.late("Txn", 2, etcd::waiter);
    Claim waiter = move.asked();
    etcd.end(holder);
    etcd.keep(waiter);
    etcd.awaitTurn(waiter);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.key(waiter).getLease()).isEqualTo(ofHolds);
    move.letGo();
    assertThat(etcd.key(waiter).getLease()).isEqualTo(ofHolds);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.key(waiter).getLease()).isEqualTo(ofHolds);
    etcd.end(waiter);
  }

  /** An operator releases the lock while the answer to a move is on its way, and the claim is queued anew behind another. */
  @Test
  void moveThatIsAnsweredLate_isNoTurn() {
    Claim waiter = waiterThatIsFirst();
    // so late that what is left of the waiters' lease is too little for a grant
    etcd.ticker.pass(EtcdContext.WAITER_LEASE.multipliedBy(3).dividedBy(5));
    Late<EtcdWait> move = etcd.answeredLate("Txn", 1, () -> {
      EtcdWait wait = etcd.mine(waiter).startWaiting(context).orElseThrow();
      wait.look();
      return wait;
    });
    assertUnderTheHoldsLease(waiter);
    queueAnewBehindAnother(waiter);
    move.letGo();
    Await.until("it is asked anew", () -> etcd.engine.told.contains("lookAgain " + waiter.id()));
    assertThat(etcd.turn(waiter)).isEmpty();
  }

  @Test
  void moveThatIsAnsweredLate_isNoGrant() {
    Claim waiter = waiterThatIsFirst();
    Late<CompletionStage<Answer>> move =
        etcd.answeredLate("Txn", 3, () -> etcd.ask(waiter, Mode.QUEUE));
    assertUnderTheHoldsLease(waiter);
    queueAnewBehindAnother(waiter);
    move.letGo();
    assertThat(Await.value(move.asked())).isInstanceOf(Answer.Busy.class);
  }

  @Test
  void moveThatIsAnsweredLate_keepsNothing() {
    Claim waiter = waiterThatIsFirst();
    Late<CompletionStage<Map<ClaimId, Kept>>> move =
        etcd.answeredLate("Txn", 2, () -> store.keep(List.of(waiter)));
    assertUnderTheHoldsLease(waiter);
    queueAnewBehindAnother(waiter);
    move.letGo();
    assertThat(Await.value(move.asked())).containsExactly(entry(waiter.id(), new Kept.Unknown()));
  }

  /** The key has changed before it is moved, so that it is not: that is answered late, and the other key is not moved in its place. */
  @Test
  void moveThatWasNotApplied_isNotRepeatedWithAnotherKey() {
    Claim waiter = waiterThatIsFirst();
    KeyValue key = etcd.key(waiter);
    Late<CompletionStage<Answer>> move = etcd.answeredLate(
        "Txn",
        3,
        () -> operator.put(key.getKey(), key.getValue().toString(), key.getLease()),
        () -> etcd.ask(waiter, Mode.QUEUE));
    assertThat(etcd.key(waiter).getLease()).isEqualTo(key.getLease());
    queueAnewBehindAnother(waiter);
    move.letGo();
    assertThat(Await.value(move.asked())).isInstanceOf(Answer.Busy.class);
  }

  /** A try deletes its key; before that is answered, the same try is repeated and granted. */
  @Test
  void deletionThatIsAnsweredLate_leavesTheGrantOfTheRepetition() {
    Claim claim = etcd.claim();
    Late<CompletionStage<Answer>> deletion =
        deletionOfATry(claim, put -> etcd.answeredLate("Txn", 1, put));
    assertThat(operator.keys()).as("it was applied").isEmpty();
    assertThat(etcd.attempt(claim, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    deletion.letGo();
    assertThat(Await.value(deletion.asked())).isInstanceOf(Answer.Busy.class);
    assertThat(context.known(claim.id())).isPresent();
    assertThat(etcd.keep(claim)).isInstanceOf(Kept.Held.class);
  }

  /** A try is repeated while its deletion is under way, and sees its key as the first: by then the key is deleted. */
  @Test
  void keyThatIsDeletedMeanwhile_isNoGrant() {
    Claim claim = etcd.claim();
    Late<CompletionStage<Answer>> deletion = deletionOfATry(claim, put -> etcd.late("Txn", 1, put));
    Late<CompletionStage<Answer>> look =
        etcd.answeredLate("Txn", 2, () -> etcd.ask(claim, Mode.TRY));
    deletion.letGo();
    assertThat(Await.value(deletion.asked())).isInstanceOf(Answer.Busy.class);
    putAnothersKey(claim);
    look.letGo();
    assertThat(Await.value(look.asked())).isInstanceOf(Answer.Busy.class);
  }

  /**
   * A try that puts its key behind a holder's, and its deletion of that, which is parked; the holder has gone by then.
   *
   * @param park lets the put go and parks the deletion, or its answer
   */
  private Late<CompletionStage<Answer>> deletionOfATry(
      Claim claim,
      Function<Supplier<CompletionStage<Answer>>, Late<CompletionStage<Answer>>> park) {
    Late<CompletionStage<Answer>> put = etcd.late("Txn", 0, () -> etcd.ask(claim, Mode.TRY));
    Claim holder = etcd.holder();
    Late<CompletionStage<Answer>> deletion = park.apply(() -> {
      put.letGo();
      return put.asked();
    });
    etcd.end(holder);
    return deletion;
  }

  private void assertUnderTheHoldsLease(Claim claim) {
    EtcdLease.Term own = Objects.requireNonNull(context.lease(LEASE).current());
    assertThat(etcd.key(claim).getLease()).as("the move was applied").isEqualTo(own.id);
  }

  /** A claim whose turn has come, and that looks for it no longer: its key is under the waiters' lease. */
  private Claim waiterThatIsFirst() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.deafWaiter();
    operator.delete(etcd.mine(holder).key);
    return waiter;
  }

  private void queueAnewBehindAnother(Claim waiter) {
    operator.delete(etcd.mine(waiter).key);
    putAnothersKey(waiter);
    assertThat(etcd.attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
  }

  private void putAnothersKey(Claim like) {
    ClaimId other = new ClaimId("fedcba9876543210fedcba9876543210", 1);
    String value = EtcdValue.claim(EtcdValue.Kind.CLAIM, Instant.EPOCH, like.holder())
        .write()
        .toString();
    operator.put(new EtcdKeys(etcd.prefix).claim(DrivenEtcd.JOB, other), value, 0);
  }

  @Test
  void moveThatComesLate_leavesAKeptLock() {
    Claim holder = etcd.holder();
    Late<Claim> move = etcd.late("Txn", 2, etcd::waiter);
    Claim waiter = move.asked();
    etcd.end(holder);
    etcd.keep(waiter);
    etcd.awaitTurn(waiter);
    assertThat(etcd.end(waiter, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = etcd.key(waiter);
    move.letGo();
    assertThat(isKept(etcd.key(waiter))).isTrue();
    assertThat(etcd.key(waiter).getModRevision()).isEqualTo(kept.getModRevision());
  }

  /** A move without an answer may have been applied, or not: the next keep makes sure. */
  @Test
  void moveWhoseAnswerIsLost_isMadeSure() {
    Claim holder = etcd.holder();
    long ofHolds = etcd.key(holder).getLease();
    calls.lose("Txn", 2);
    Claim waiter = etcd.waiter();
    Await.until("it was applied", () -> etcd.key(waiter).getLease() != ofHolds);
    etcd.end(holder);
    etcd.keep(waiter);
    etcd.awaitTurn(waiter);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.key(waiter).getLease()).isEqualTo(ofHolds);
    etcd.end(waiter);
  }

  /** A grant under the waiters' lease promises all of it: the hold's own lease, begun before, must not end first. */
  @Test
  void moveToTheHoldsLease_doesNotEndWhatWasPromised() {
    Duration brief = EtcdContext.WAITER_LEASE;
    etcd.ticker.stop();
    Claim holder = etcd.claim(brief);
    etcd.grant(holder);
    etcd.ticker.pass(brief.dividedBy(20));
    Claim waiter = etcd.claim(brief);
    assertThat(etcd.attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    Await.until("it is under the waiters' lease", () -> {
      EtcdLease.Term under = etcd.mine(waiter).place.term();
      return under != null && under == context.waiting.current();
    });
    etcd.end(holder);
    Await.until("it is granted", () -> !etcd.engine.told.isEmpty());
    EtcdLease.Term promised = Objects.requireNonNull(context.waiting.current());
    calls.lose("Txn", 1);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Unknown.class);
    EtcdLease.Term own = Objects.requireNonNull(context.lease(brief).current());
    assertThat(etcd.key(waiter).getLease()).as("it was applied").isEqualTo(own.id);
    assertThat(own.anchor().nanos()).isGreaterThanOrEqualTo(promised.anchor().nanos());
    etcd.end(waiter);
  }

  /** A key that was put without an answer is read with its lease, and stays under it: a server that is full would refuse a move. */
  @Test
  void attemptWhoseAnswerIsLost_isNotMovedByTheNextOne() {
    Claim holder = etcd.claim();
    calls.lose("Txn", 0);
    Await.failure(etcd.ask(holder, Mode.QUEUE));
    etcd.grant(holder);
    assertThat(etcd.key(holder).getVersion()).isEqualTo(1);
    etcd.end(holder);
  }

  /** Asked again under the same claim, the key stays as it is, also if the first request is the later one to arrive. */
  @Test
  void attemptThatComesLate_leavesTheKeyAsItIs() {
    Claim holder = etcd.claim();
    Late<CompletionStage<Answer>> late = etcd.late("Txn", 0, () -> etcd.ask(holder, Mode.QUEUE));
    etcd.grant(holder);
    late.letGo();
    assertThat(Await.value(late.asked())).isInstanceOf(Answer.Granted.class);
    assertThat(etcd.key(holder).getVersion()).isEqualTo(1);
    etcd.end(holder);
  }

  /** Who hears of its lease last does not put keys under it that another, later one keeps longer. */
  @Test
  void leaseThatIsAnsweredLate_isNotUsed() {
    Late<CompletableFuture<EtcdLease.Term>> late =
        etcd.late("LeaseGrant", 0, () -> context.lease(LEASE).young());
    etcd.ticker.pass(Duration.ofSeconds(10));
    EtcdLease.Term second = Await.value(context.lease(LEASE).young());
    late.letGo();
    assertThat(Await.value(late.asked())).isSameAs(second);
    assertThat(context.lease(LEASE).current()).isSameAs(second);
  }

  // attempts and ends

  /** An attempt that its end called off fails for the epoch only, and is not sent again. */
  @Test
  void attemptThatWasCalledOff_isNotRepeated() {
    Claim claim = etcd.claim();
    Late<CompletionStage<Answer>> late = etcd.late("Txn", 0, () -> etcd.ask(claim, Mode.QUEUE));
    Ended ended = etcd.end(claim);
    assertThat(ended.outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(ended.isFinal()).isTrue();
    late.letGo();
    assertThat(Await.value(late.asked())).isInstanceOf(Answer.Late.class);
    assertThat(operator.keys()).isEmpty();
    assertThat(context.remembered()).isZero();
  }

  /** The end comes while the attempt's lease is being asked for: nothing is sent any more. */
  @Test
  void attemptThatWasEndedBeforeItIsSent_isLate() {
    Claim claim = etcd.claim();
    Late<CompletionStage<Answer>> lease =
        etcd.late("LeaseGrant", 0, () -> etcd.ask(claim, Mode.QUEUE));
    assertThat(etcd.end(claim).isFinal()).isTrue();
    lease.letGo();
    assertThat(Await.value(lease.asked())).isInstanceOf(Answer.Late.class);
    assertThat(operator.keys()).isEmpty();
  }

  /** An attempt is refused because its key is there already. If reading the reason fails, the attempt may have been applied. */
  @Test
  void refusal_whoseReasonIsNotRead_isNotCalledNotApplied() {
    Claim holder = etcd.claim();
    calls.lose("Txn", 0);
    Await.failure(etcd.ask(holder, Mode.QUEUE));
    String refusal = "etcdserver: too many requests";
    calls.refuse("Txn", 1, Status.RESOURCE_EXHAUSTED.withDescription(refusal));
    Throwable failure = Await.failure(etcd.ask(holder, Mode.QUEUE));
    assertThat(failure).isInstanceOf(StoreException.class).hasMessageContaining(refusal);
    assertThat(((StoreException) failure).notApplied()).isFalse();
    assertThat(context.known(holder.id())).isPresent();
    assertThat(etcd.end(holder).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(operator.keys()).isEmpty();
  }

  /** The second step of an attempt is refused: the first was applied all the same. */
  @Test
  void refusedAfterThePut_isNotCalledNotApplied() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.claim();
    calls.refuse("Txn", 1, noSpace());
    Throwable failure = Await.failure(etcd.ask(waiter, Mode.QUEUE));
    assertThat(failure).isInstanceOf(StoreException.class).hasMessageContaining("space exceeded");
    assertThat(((StoreException) failure).notApplied()).isFalse();
    assertThat(operator.keys()).hasSize(2);
    assertThat(etcd.end(waiter).outcome()).isEqualTo(Outcome.WITHDRAWN);
    calls.refuse("Txn", noSpace());
    Throwable before = Await.failure(etcd.ask(waiter, Mode.QUEUE));
    assertThat(((StoreException) before).notApplied()).isTrue();
    etcd.end(holder);
    assertThat(operator.keys()).isEmpty();
  }

  // kept locks

  /** An attempt is refused because the claim has the lock. Before the reason is read, the claim ends and its lock is kept. */
  @Test
  void refusalThatIsReadAfterTheEnd_leavesAKeptLock() {
    assertRefusalLeavesAKeptLock(
        holder -> assertThat(etcd.end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED));
  }

  /** The same while the answer to that end is lost: for this side the claim still has its key. */
  @Test
  void refusalThatIsReadBeforeTheEndIsAnswered_leavesAKeptLock() {
    assertRefusalLeavesAKeptLock(holder -> {
      calls.lose("Txn", 0);
      Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    });
  }

  private void assertRefusalLeavesAKeptLock(Consumer<Claim> end) {
    Claim holder = etcd.holder();
    Late<CompletionStage<Answer>> read = etcd.late("Txn", 1, () -> etcd.ask(holder, Mode.QUEUE));
    end.accept(holder);
    KeyValue kept = etcd.key(holder);
    assertThat(isKept(kept)).isTrue();
    read.letGo();
    assertThat(Await.value(read.asked())).isInstanceOf(Answer.Late.class);
    assertThat(etcd.key(holder).getModRevision()).isEqualTo(kept.getModRevision());
    assertThat(etcd.end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(isKept(etcd.key(holder))).isTrue();
  }

  @Test
  void keptLock_whenTheWallClockSteps_isKeptAsLong() {
    Claim holder = etcd.holder();
    etcd.ticker.stepWall(Duration.ofHours(1));
    assertThat(etcd.end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = etcd.key(holder);
    assertThat(isKept(kept)).isTrue();
    assertThat(operator.timeLeft(kept.getLease()))
        .isBetween(KEEP_FOR.toSeconds() - 100, KEEP_FOR.toSeconds());
  }

  @Test
  void keptLock_hasOneLease_howeverOftenItsEndIsRepeated() {
    Claim holder = etcd.holder();
    int before = calls.sent("LeaseGrant");
    for (int i = 0; i < 5; i++) {
      calls.refuse("Txn", broken());
      Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    }
    assertThat(etcd.end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(calls.sent("LeaseGrant") - before).isEqualTo(1);
  }

  /** An operator ends the lease before it is used: the end that is repeated begins another one. */
  @Test
  void keptLock_whoseLeaseIsGone_getsAnother() {
    Claim holder = etcd.holder();
    calls.refuse("Txn", broken());
    Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    operator.revoke(etcd.mine(holder).keptUnder());
    Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    assertThat(etcd.end(holder, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(isKept(etcd.key(holder))).isTrue();
  }

  /** The end whose answer was lost called the open attempt off: the next one need not wait for it. */
  @Test
  void keptLock_afterALostAnswer_isFinal() {
    Claim holder = etcd.holder();
    EtcdLease.Term term = Await.value(context.lease(LEASE).young());
    assertThat(etcd.mine(holder).sent(term)).isPresent();
    calls.lose("Txn", 0);
    Await.failure(store.end(holder, KEEP_FOR, Instant.MIN));
    assertThat(isKept(etcd.key(holder))).isTrue();
    Ended again = etcd.end(holder, KEEP_FOR);
    assertThat(again.outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(again.isFinal()).isTrue();
    assertThat(again.othersWait()).as("not looked at").isTrue();
  }

  /** A lease in its last second has 0 whole ones left, and is still there: its attempts are called off as well. */
  @Test
  void leaseInItsLastSecond_isAlive() {
    Claim claim = etcd.claim();
    EtcdClaim mine = context.asking(claim);
    EtcdLease.Term gone = Await.value(context.lease(LEASE).young());
    EtcdLease.Term brief = Await.value(context.waiting.young());
    assertThat(mine.sent(gone)).isPresent();
    assertThat(mine.sent(brief)).isPresent();
    operator.revoke(gone.id);
    // field 3, TTL, is 0
    byte[] noTimeLeft = {3 << 3, 0};
    for (int i = 0; i < 2; i++) {
      calls.change("LeaseTimeToLive", "TTL: -1", noTimeLeft);
    }
    assertThat(etcd.end(claim).isFinal()).isTrue();
    assertThat(brief.epoch).isEqualTo(1);
  }

  // what stays

  @Test
  void claimsThatLeftNothing_areForgotten() {
    Claim holder = etcd.holder();
    for (int i = 0; i < 200; i++) {
      assertThat(etcd.attempt(etcd.claim(), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    }
    for (int i = 0; i < 20; i++) {
      calls.refuse("Txn", noSpace());
      Await.failure(etcd.ask(etcd.claim(), Mode.QUEUE));
    }
    assertThat(context.remembered()).isEqualTo(1);
    etcd.end(holder);
    assertThat(context.remembered()).isZero();
  }

  /** What the engine has given up and the server does not have is nobody's. */
  @Test
  void claimWhoseEndWasGivenUp_isForgotten() {
    Claim claim = etcd.claim();
    EtcdClaim mine = context.asking(claim);
    assertThat(mine.sent(Await.value(context.lease(LEASE).young()))).isPresent();
    calls.refuse("Txn", broken());
    Await.failure(store.end(claim, Duration.ZERO, Instant.MIN));
    Await.value(store.own());
    assertThat(context.remembered()).as("while the end may be repeated").isEqualTo(1);
    etcd.ticker.pass(LEASE.multipliedBy(2));
    Await.value(store.own());
    assertThat(context.remembered()).isZero();
  }

  /** A key under a lease that was replaced and has not ended is found. */
  @Test
  void own_findsWhatIsUnderAFormerLease() {
    EtcdLease.Term former = Await.value(context.lease(LEASE).young());
    ClaimId forgotten = new ClaimId(etcd.engine.runtime().client(), EtcdSeats.FIRST + 77);
    operator.put(new EtcdKeys(etcd.prefix).claim(DrivenEtcd.JOB, forgotten), "", former.id);
    etcd.ticker.pass(LEASE.minusSeconds(1));
    assertThat(Await.value(context.lease(LEASE).young())).isNotSameAs(former);
    assertThat(Await.value(store.own())).containsOnlyKeys(forgotten);
    operator.revoke(former.id);
    assertThat(Await.value(store.own())).isEmpty();
    assertThat(context.lease(LEASE).terms()).hasSize(1);
  }

  // watches

  /** A watch tells something while it is being begun: no second one is begun, and the first is closed. */
  @Test
  void watchThatTellsAtOnce_isBegunOnce() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.waiter();
    Await.until("it watches", () -> calls.openWatches() == 1);
    EtcdClaim mine = etcd.mine(waiter);
    mine.stopWaiting();
    Await.until("it watches no more", () -> calls.openWatches() == 0);
    int looks = calls.sent("Txn");
    EtcdWait wait = mine.startWaiting(context).orElseThrow();
    calls.during("Watch", () -> {
      CompletableFuture<Calls.Parked> parked = calls.park("Txn", 0);
      wait.look();
      Await.value(Await.value(parked).letGo());
    });
    wait.begin();
    Await.until("it has looked when the watch had begun", () -> calls.sent("Txn") >= looks + 2);
    mine.stopWaiting();
    Await.until("it watches no more", () -> calls.openWatches() == 0);
    etcd.end(waiter);
    etcd.end(holder);
  }

  /** A store that was closed on the application's client begins no more watches there. */
  @Test
  void closed_whileSomebodyBeginsToWait_leavesNoWatch() {
    etcd.holder();
    Claim waiter = etcd.claim();
    Late<CompletionStage<Answer>> late = etcd.late("Txn", 0, () -> etcd.ask(waiter, Mode.QUEUE));
    store.close();
    late.letGo();
    assertThat(Await.value(late.asked())).isInstanceOf(Answer.Busy.class);
    assertThat(etcd.mine(waiter).startWaiting(etcd.anotherContext()))
        .as("it did not wait")
        .isPresent();
    assertThat(calls.sent("Watch")).isZero();
  }
}
