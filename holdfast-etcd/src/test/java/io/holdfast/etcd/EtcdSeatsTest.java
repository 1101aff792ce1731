// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static io.holdfast.etcd.DrivenEtcd.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.grpc.Status;
import io.holdfast.etcd.DrivenEtcd.Late;
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
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Claims that have the key of an earlier one: no server is left with a key for each claim, and no claim meets
 * another's end.
 */
@Tag("stores")
class EtcdSeatsTest {
  private static final Duration KEEP_FOR = Duration.ofMinutes(1);

  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private final EtcdOperator operator = etcd.operator;
  private final Calls calls = etcd.calls;
  private final EtcdStore store = etcd.store;
  private final EtcdContext context = etcd.context;

  private void assertHolds(Claim claim) {
    assertThat(operator.keys()).extracting(KeyValue::getKey).containsExactly(etcd.mine(claim).key);
    assertThat(etcd.keep(claim)).isInstanceOf(Kept.Held.class);
  }

  /** The server's index does not grow with the number of cycles, only with how many are there at once. */
  @Test
  void cycles_haveOneKey() {
    Set<ByteSequence> seen = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      Claim holder = etcd.holder();
      seen.add(etcd.mine(holder).key);
      etcd.end(holder);
    }
    assertThat(seen).hasSize(1);
    seen.add(etcd.mine(etcd.holder()).key);
    seen.add(etcd.mine(etcd.waiter()).key);
    assertThat(seen).hasSize(2);
    assertThat(operator.keys()).hasSize(2);
  }

  /** Tries that find the lock taken put nothing, and take no key away. */
  @Test
  void triesInVain_giveTheirKeysBack() {
    etcd.holder();
    Claim waiter = etcd.waiter();
    ByteSequence second = etcd.mine(waiter).key;
    etcd.end(waiter);
    for (int i = 0; i < 5; i++) {
      etcd.attempt(etcd.claim(), Mode.TRY);
    }
    Claim next = etcd.waiter();
    assertThat(etcd.mine(next).key).isEqualTo(second);
  }

  /** An end that the engine gave up, and asked for again, may still be applied: nobody gets that key any more. */
  @Test
  void endThatComesLate_meetsNobody() {
    Claim first = etcd.holder();
    Late<CompletionStage<Ended>> late =
        etcd.late("Txn", 0, () -> store.end(first, Duration.ZERO, Instant.MIN));
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    Claim next = etcd.holder();
    late.letGo();
    assertThat(Await.value(late.asked()).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertHolds(next);
  }

  /** So may one that failed without an answer. */
  @Test
  void endThatFailed_leavesItsKeyToNobody() {
    Claim first = etcd.holder();
    ByteSequence key = etcd.mine(first).key;
    calls.refuse("Txn", Status.UNAVAILABLE);
    Await.failure(store.end(first, Duration.ZERO, Instant.MIN));
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(etcd.mine(etcd.holder()).key).isNotEqualTo(key);
  }

  /** An attempt whose answer was lost is called off by the end: what is known of it is not enough to use its key again. */
  @Test
  void attemptWithoutAnAnswer_leavesItsKeyToNobody() {
    Claim first = etcd.claim();
    calls.lose("Txn", 0);
    Await.failure(etcd.ask(first, Mode.QUEUE));
    ByteSequence key = etcd.mine(first).key;
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(etcd.mine(etcd.holder()).key).isNotEqualTo(key);
  }

  /** An attempt that was called off may still come: it finds its epoch raised, and its key nobody's. */
  @Test
  void attemptThatWasCalledOff_leavesItsKeyToNobody() {
    Claim first = etcd.claim();
    Late<CompletionStage<Answer>> late = etcd.late("Txn", 0, () -> etcd.ask(first, Mode.QUEUE));
    ByteSequence key = etcd.mine(first).key;
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.NOT_THERE);
    Claim next = etcd.holder();
    assertThat(etcd.mine(next).key).isNotEqualTo(key);
    late.letGo();
    assertThat(Await.value(late.asked())).isInstanceOf(Answer.Late.class);
    assertHolds(next);
  }

  /** Only a handshake that fails says that nothing was sent: any other failure of TLS may come after the server's answer. */
  @Test
  void attemptWhoseConnectionBreaksInTls_leavesItsKeyToNobody() {
    Claim first = etcd.claim();
    calls.lose("Txn", 0, Status.UNAVAILABLE.withCause(new SSLException("bad record")));
    assertThat(Await.failure(etcd.ask(first, Mode.QUEUE)))
        .isInstanceOfSatisfying(StoreException.class, e -> {
          assertThat(e.notApplied()).isFalse();
          assertThat(e).hasMessageContaining("bad record");
        });
    ByteSequence key = etcd.mine(first).key;
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    Claim next = etcd.holder();
    assertThat(etcd.mine(next).key).isNotEqualTo(key);
    assertHolds(next);
  }

  /** A claim that was refused and asks again, after another one was given the key that it had. */
  @Test
  void claimThatAsksAgain_hasAKeyOfItsOwn() {
    Claim first = etcd.claim();
    calls.refuse("Txn", Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: too many requests"));
    Await.failure(etcd.ask(first, Mode.QUEUE));
    Claim next = etcd.holder();
    assertThat(etcd.attempt(first, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    assertThat(etcd.mine(first).key).isNotEqualTo(etcd.mine(next).key);
    etcd.end(first);
    assertHolds(next);
  }

  /** Somebody comes between a try's look, which sees nobody, and its put; the deletion that follows is late. */
  private Late<CompletionStage<Answer>> overtake(Claim tries, Claim between) {
    Late<CompletionStage<Answer>> put = etcd.late("Txn", 0, () -> etcd.ask(tries, Mode.TRY));
    etcd.grant(between);
    // it looks where it is first
    return etcd.late("Txn", 1, () -> {
      put.letGo();
      return put.asked();
    });
  }

  /** A try that came second deletes its key; that deletion is applied late, when another claim has the key. */
  @Test
  void deletionOfATryThatComesLate_meetsNobody() {
    Claim holder = etcd.holder();
    Claim first = etcd.claim();
    etcd.end(holder);
    Claim between = etcd.claim();
    Late<CompletionStage<Answer>> deletion = overtake(first, between);
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.WITHDRAWN);
    etcd.end(between);
    Claim next = etcd.holder();
    deletion.letGo();
    assertThat(Await.value(deletion.asked())).isInstanceOf(Answer.Busy.class);
    assertHolds(next);
  }

  /** A try whose deletion has no answer is repeated, and is the first now: that deletion does not take the lock away. */
  @Test
  void tryThatIsRepeated_isNotDeletedByItsFormerSelf() {
    Claim first = etcd.claim();
    Claim between = etcd.claim();
    Late<CompletionStage<Answer>> deletion = overtake(first, between);
    etcd.end(between);
    assertThat(etcd.attempt(first, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    deletion.letGo();
    Await.value(deletion.asked().handle((answer, failure) -> true));
    assertHolds(first);
  }

  /** Two ends that keep the lock overtake each other: it is kept, and by its own key. */
  @Test
  void endThatKeepsTheLock_doesNotUndoTheOther() {
    Claim first = etcd.holder();
    Late<CompletionStage<Ended>> late =
        etcd.late("Txn", 0, () -> store.end(first, KEEP_FOR, Instant.MIN));
    assertThat(etcd.end(first, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = operator.keys().get(0);
    late.letGo();
    Await.value(late.asked());
    assertThat(operator.keys()).hasSize(1);
    assertThat(operator.keys().get(0).getCreateRevision()).isEqualTo(kept.getCreateRevision());
    assertThat(operator.keys().get(0).getLease()).isEqualTo(kept.getLease());
  }

  /** A claim that is ended once more, after another one has its key. */
  @Test
  void endOfAClaimThatIsOver_touchesNothing() {
    Claim first = etcd.holder();
    ByteSequence key = etcd.mine(first).key;
    etcd.end(first);
    int sent = calls.sent("Txn");
    assertThat(etcd.end(first).outcome()).as("its key is free").isEqualTo(Outcome.NOT_THERE);
    assertThat(calls.sent("Txn")).isEqualTo(sent);
    Claim next = etcd.holder();
    assertThat(etcd.mine(next).key).isEqualTo(key);
    assertThat(etcd.end(first).outcome()).as("its key is another's").isEqualTo(Outcome.NOT_THERE);
    assertHolds(next);
  }

  /** A keep that read the key before it was another claim's, or after, neither takes it for its own nor moves it. */
  @Test
  void claimThatIsOver_takesNoOthersKeyForItsOwn() {
    Claim first = etcd.holder();
    EtcdClaim over = etcd.mine(first);
    etcd.end(first);
    Claim next = etcd.holder();
    KeyValue before = operator.keys().get(0);
    over.place.seen(before);
    assertThat(over.place.revision()).isLessThan(before.getCreateRevision());
    assertThat(over.place.first(before.getCreateRevision(), etcd.ticker.now())).isFalse();
    assertThat(Await.value(context.move(over, over.place.revision(), context.waiting)))
        .isEmpty();
    assertThat(operator.keys().get(0).getModRevision()).isEqualTo(before.getModRevision());
    assertHolds(next);
  }

  /** A lock that is kept after its hold has its key until that is over. */
  @Test
  void keptLock_keepsItsKey() {
    Claim first = etcd.holder();
    ByteSequence key = etcd.mine(first).key;
    etcd.end(first, KEEP_FOR);
    Claim waiter = etcd.waiter();
    assertThat(etcd.mine(waiter).key).isNotEqualTo(key);
    assertThat(operator.keys()).hasSize(2);
  }

  /** A list of keys that was read before a release, and is answered after it, has a kept lock's as a forgotten claim's: it stays. */
  @Test
  void keptLock_listedBeforeItsRelease_isKept() {
    Claim first = etcd.holder();
    EtcdSeats.Seat seat = Objects.requireNonNull(etcd.mine(first).seat);
    assertThat(etcd.end(first, KEEP_FOR).outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = operator.keys().get(0);
    ClaimId listed = context
        .seats
        .owner(seat, new ClaimId(etcd.engine.runtime().client(), seat.number()))
        .orElseThrow();
    Claim forgotten = new Claim(listed, DrivenEtcd.JOB, 1, 1, LEASE, false, first.holder());
    for (Claim each : List.of(forgotten, first)) {
      assertThat(etcd.end(each).outcome()).isEqualTo(Outcome.RELEASED);
      assertThat(operator.keys()).extracting(KeyValue::getLease).containsExactly(kept.getLease());
    }
  }

  /** The key of a forgotten claim becomes a kept lock's after it was looked at, and before its deletion comes: it stays. */
  @Test
  void forgottenKey_thatBecomesAKeptLocks_isKept() {
    ClaimId id = new ClaimId(etcd.engine.runtime().client(), EtcdSeats.FIRST + 77);
    Claim forgotten =
        new Claim(id, DrivenEtcd.JOB, 1, 1, LEASE, false, etcd.claim().holder());
    ByteSequence key = new EtcdKeys(etcd.prefix).claim(DrivenEtcd.JOB, id);
    EtcdLease.Term term = Await.value(context.lease(LEASE).young());
    Instant now = store.time();
    operator.put(
        key,
        EtcdValue.claim(EtcdValue.Kind.CLAIM, now, forgotten.holder()).write().toString(),
        term.id);
    Late<CompletionStage<Ended>> deletion =
        etcd.late("Txn", 0, () -> store.end(forgotten, Duration.ZERO, Instant.MIN));
    operator.put(key, EtcdValue.kept(now, now.plus(KEEP_FOR)).write().toString(), term.id);
    deletion.letGo();
    assertThat(Await.value(deletion.asked()).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(operator.keys()).extracting(KeyValue::getKey).containsExactly(key);
  }

  /** What is there is told as the claim's that has the key now; what was there and is free is told as nobody's. */
  @Test
  void own_namesWhoHasTheKeyNow() {
    Claim first = etcd.holder();
    etcd.end(first);
    Claim next = etcd.holder();
    assertThat(Await.value(store.own())).containsOnlyKeys(next.id());
    etcd.end(next);
    EtcdSeats.Seat seat = new EtcdSeats.Seat(DrivenEtcd.JOB, EtcdSeats.FIRST);
    ClaimId nobody = new ClaimId(etcd.engine.runtime().client(), EtcdSeats.FIRST);
    assertThat(context.seats.owner(seat, nobody)).isEmpty();
    EtcdSeats.Seat lost = new EtcdSeats.Seat(DrivenEtcd.JOB, EtcdSeats.FIRST + 99);
    assertThat(context.seats.owner(lost, nobody)).contains(nobody);
  }

  /** A holder that comes back to the end of the queue has the same key as before: whoever watched that is not misled. */
  @Test
  void holderThatComesBackWithItsKey_isBehindWhoWatchedIt() {
    Claim holder = etcd.holder();
    ByteSequence key = etcd.mine(holder).key;
    Late<Claim> watch = etcd.late("Watch", 0, etcd::waiter);
    Claim waiter = watch.asked();
    etcd.end(holder);
    Claim again = etcd.waiter();
    assertThat(etcd.mine(again).key).isEqualTo(key);
    assertThat(watch.parked().letGo()).as("it ends with the client").isNotNull();
    etcd.awaitTurn(waiter);
    assertThat(etcd.turn(again)).isEmpty();
    etcd.end(waiter);
    etcd.awaitTurn(again);
  }

  /** Locks are many, and remembered no more than so many; a name that is not remembered has new keys. */
  @Test
  void freeKeys_areBounded() {
    EtcdSeats seats = new EtcdSeats();
    long last = 0;
    for (int i = 1; i <= 20_000; i++) {
      EtcdSeats.Seat seat = seats.take(LockKey.of("job-" + i), new ClaimId("me", i));
      last = seat.number();
      seats.leave(seat, true);
    }
    assertThat(seats.take(LockKey.of("job-20000"), new ClaimId("me", 20_001)).number())
        .isEqualTo(last);
    assertThat(seats.take(LockKey.of("job-1"), new ClaimId("me", 20_002)).number())
        .isGreaterThan(last);
  }
}
