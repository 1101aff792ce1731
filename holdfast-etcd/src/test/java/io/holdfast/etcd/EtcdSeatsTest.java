// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
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
import io.holdfast.testkit.Await;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Claims that have the key of an earlier one: no server is left with a key for each claim, and no claim meets
 * another's end.
 */
class EtcdSeatsTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Holder HOLDER = new Holder("test", "here", 1, "main", "");
  private static final URI SERVER =
      URI.create("http://" + EtcdUnderTest.server().endpoint());

  private final String prefix = EtcdUnderTest.nextPrefix();
  private final Calls calls = new Calls();
  private final SteppedTicker ticker = new SteppedTicker();
  private final RecordingStart engine = new RecordingStart(ticker);
  private final Client client =
      Client.builder().endpoints(List.of(SERVER)).interceptor(calls).build();
  private final EtcdStore store =
      EtcdStore.using(client, EtcdSettings.builder().prefix(prefix).build());
  private final LockKey name = LockKey.of("job");
  private final EtcdContext context;
  private long claims;

  EtcdSeatsTest() {
    store.start(engine.runtime(), engine);
    Await.value(store.connect().thenApply(nothing -> true));
    context = store.context();
  }

  @AfterEach
  void close() {
    store.close();
    client.close();
  }

  private Claim claim() {
    ClaimId id = new ClaimId(engine.runtime().client(), ++claims);
    return new Claim(id, name, 1, 1, LEASE, false, HOLDER);
  }

  private CompletionStage<Answer> ask(Claim claim) {
    return store.attempt(claim, Mode.QUEUE, store.time().plusSeconds(60));
  }

  private EtcdClaim grant(Claim claim) {
    assertThat(Await.value(ask(claim))).isInstanceOf(Answer.Granted.class);
    return mine(claim);
  }

  private EtcdClaim mine(Claim claim) {
    return context.known(claim.id()).orElseThrow();
  }

  private Outcome end(Claim claim) {
    return Await.value(store.end(claim, Duration.ZERO, Instant.MIN)).outcome();
  }

  private List<KeyValue> keys() {
    ByteSequence all = ByteSequence.from(prefix + "lock/", StandardCharsets.UTF_8);
    GetOption option = GetOption.builder().isPrefix(true).build();
    return Await.value(client.getKVClient().get(all, option)).getKvs();
  }

  private void assertHolds(Claim claim) {
    assertThat(keys()).extracting(KeyValue::getKey).containsExactly(mine(claim).key);
    assertThat(Await.value(store.keep(List.of(claim))).get(claim.id()))
        .isInstanceOf(Kept.Held.class);
  }

  /** The server's index does not grow with the number of cycles, only with how many are there at once. */
  @Test
  void cycles_haveOneKey() {
    Set<ByteSequence> seen = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      Claim holder = claim();
      seen.add(grant(holder).key);
      end(holder);
    }
    assertThat(seen).hasSize(1);
    Claim holder = claim();
    seen.add(grant(holder).key);
    Claim waiter = claim();
    Await.value(ask(waiter));
    seen.add(mine(waiter).key);
    assertThat(seen).hasSize(2);
    assertThat(keys()).hasSize(2);
  }

  /** Tries that find the lock taken put nothing, and take no key away. */
  @Test
  void triesInVain_giveTheirKeysBack() {
    Claim holder = claim();
    grant(holder);
    Claim waiter = claim();
    Await.value(ask(waiter));
    ByteSequence second = mine(waiter).key;
    end(waiter);
    for (int i = 0; i < 5; i++) {
      Await.value(store.attempt(claim(), Mode.TRY, store.time().plusSeconds(60)));
    }
    Claim next = claim();
    Await.value(ask(next));
    assertThat(mine(next).key).isEqualTo(second);
  }

  /** An end that the engine gave up, and asked for again, may still be applied: nobody gets that key any more. */
  @Test
  void endThatComesLate_meetsNobody() {
    Claim first = claim();
    grant(first);
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
    CompletionStage<Ended> given = store.end(first, Duration.ZERO, Instant.MIN);
    Calls.Parked<?, ?> late = Await.value(parked);
    assertThat(end(first)).isEqualTo(Outcome.RELEASED);
    Claim next = claim();
    grant(next);
    Await.value(late.letGo());
    assertThat(Await.value(given).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertHolds(next);
  }

  /** So may one that failed without an answer. */
  @Test
  void endThatFailed_leavesItsKeyToNobody() {
    Claim first = claim();
    ByteSequence key = grant(first).key;
    calls.refuse("Txn", Status.UNAVAILABLE);
    Await.failure(store.end(first, Duration.ZERO, Instant.MIN));
    assertThat(end(first)).isEqualTo(Outcome.RELEASED);
    assertThat(grant(claim()).key).isNotEqualTo(key);
  }

  /** An attempt whose answer was lost is called off by the end: what is known of it is not enough to use its key again. */
  @Test
  void attemptWithoutAnAnswer_leavesItsKeyToNobody() {
    Claim first = claim();
    calls.lose("Txn", 0);
    Await.failure(ask(first));
    ByteSequence key = mine(first).key;
    assertThat(end(first)).isEqualTo(Outcome.RELEASED);
    assertThat(grant(claim()).key).isNotEqualTo(key);
  }

  /** An attempt that was called off may still come: it finds its epoch raised, and its key nobody's. */
  @Test
  void attemptThatWasCalledOff_leavesItsKeyToNobody() {
    Claim first = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
    CompletionStage<Answer> asked = ask(first);
    Calls.Parked<?, ?> late = Await.value(parked);
    ByteSequence key = mine(first).key;
    assertThat(end(first)).isEqualTo(Outcome.NOT_THERE);
    Claim next = claim();
    assertThat(grant(next).key).isNotEqualTo(key);
    Await.value(late.letGo());
    assertThat(Await.value(asked)).isInstanceOf(Answer.Late.class);
    assertHolds(next);
  }

  /** A claim that was refused and asks again, after another one was given the key that it had. */
  @Test
  void claimThatAsksAgain_hasAKeyOfItsOwn() {
    Claim first = claim();
    calls.refuse("Txn", Status.RESOURCE_EXHAUSTED.withDescription("etcdserver: too many requests"));
    Await.failure(ask(first));
    Claim next = claim();
    grant(next);
    assertThat(Await.value(ask(first))).isInstanceOf(Answer.Busy.class);
    assertThat(mine(first).key).isNotEqualTo(mine(next).key);
    end(first);
    assertHolds(next);
  }

  /** A try that came second deletes its key; that deletion is applied late, when another claim has the key. */
  @Test
  void deletionOfATryThatComesLate_meetsNobody() {
    Claim holder = claim();
    grant(holder);
    Claim first = claim();
    // somebody comes between its look and its put: the look sees nobody
    end(holder);
    Claim between = claim();
    CompletableFuture<Calls.Parked<?, ?>> put = calls.park("Txn", 0);
    CompletionStage<Answer> tried = store.attempt(first, Mode.TRY, store.time().plusSeconds(60));
    Calls.Parked<?, ?> parkedPut = Await.value(put);
    grant(between);
    CompletableFuture<Calls.Parked<?, ?>> deletion = calls.park("Txn", 0);
    Await.value(parkedPut.letGo());
    Calls.Parked<?, ?> late = Await.value(deletion);
    assertThat(end(first)).isEqualTo(Outcome.WITHDRAWN);
    end(between);
    Claim next = claim();
    grant(next);
    Await.value(late.letGo());
    assertThat(Await.value(tried)).isInstanceOf(Answer.Busy.class);
    assertHolds(next);
  }

  /** A try whose deletion has no answer is repeated, and is the first now: that deletion does not take the lock away. */
  @Test
  void tryThatIsRepeated_isNotDeletedByItsFormerSelf() {
    Claim first = claim();
    Claim between = claim();
    CompletableFuture<Calls.Parked<?, ?>> put = calls.park("Txn", 0);
    CompletionStage<Answer> tried = store.attempt(first, Mode.TRY, store.time().plusSeconds(60));
    Calls.Parked<?, ?> parkedPut = Await.value(put);
    grant(between);
    CompletableFuture<Calls.Parked<?, ?>> deletion = calls.park("Txn", 0);
    Await.value(parkedPut.letGo());
    Calls.Parked<?, ?> late = Await.value(deletion);
    end(between);
    assertThat(Await.value(store.attempt(first, Mode.TRY, store.time().plusSeconds(60))))
        .isInstanceOf(Answer.Granted.class);
    Await.value(late.letGo());
    Await.value(tried.handle((answer, failure) -> true));
    assertHolds(first);
  }

  /** Two ends that keep the lock overtake each other: it is kept, and by its own key. */
  @Test
  void endThatKeepsTheLock_doesNotUndoTheOther() {
    Claim first = claim();
    grant(first);
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Txn", 0);
    CompletionStage<Ended> given = store.end(first, Duration.ofMinutes(1), Instant.MIN);
    Calls.Parked<?, ?> late = Await.value(parked);
    assertThat(Await.value(store.end(first, Duration.ofMinutes(1), Instant.MIN)).outcome())
        .isEqualTo(Outcome.RELEASED);
    KeyValue kept = keys().get(0);
    Await.value(late.letGo());
    Await.value(given);
    assertThat(keys()).hasSize(1);
    assertThat(keys().get(0).getCreateRevision()).isEqualTo(kept.getCreateRevision());
    assertThat(keys().get(0).getLease()).isEqualTo(kept.getLease());
  }

  /** A claim that is ended once more, after another one has its key. */
  @Test
  void endOfAClaimThatIsOver_touchesNothing() {
    Claim first = claim();
    ByteSequence key = grant(first).key;
    end(first);
    int sent = calls.sent("Txn");
    assertThat(end(first)).as("its key is free").isEqualTo(Outcome.NOT_THERE);
    assertThat(calls.sent("Txn")).isEqualTo(sent);
    Claim next = claim();
    assertThat(grant(next).key).isEqualTo(key);
    assertThat(end(first)).as("its key is another's").isEqualTo(Outcome.NOT_THERE);
    assertHolds(next);
  }

  /** A keep that read the key before it was another claim's, or after, neither takes it for its own nor moves it. */
  @Test
  void claimThatIsOver_takesNoOthersKeyForItsOwn() {
    Claim first = claim();
    EtcdClaim over = grant(first);
    end(first);
    Claim next = claim();
    grant(next);
    KeyValue before = keys().get(0);
    over.place.seen(before);
    assertThat(over.place.revision()).isLessThan(before.getCreateRevision());
    assertThat(over.place.first(before.getCreateRevision(), ticker.now())).isFalse();
    assertThat(Await.value(context.move(over, context.waiting))).isEmpty();
    assertThat(keys().get(0).getModRevision()).isEqualTo(before.getModRevision());
    assertHolds(next);
  }

  /** A lock that is kept after its hold has its key until that is over. */
  @Test
  void keptLock_keepsItsKey() {
    Claim first = claim();
    ByteSequence key = grant(first).key;
    Await.value(store.end(first, Duration.ofMinutes(1), Instant.MIN));
    Claim waiter = claim();
    assertThat(Await.value(ask(waiter))).isInstanceOf(Answer.Busy.class);
    assertThat(mine(waiter).key).isNotEqualTo(key);
    assertThat(keys()).hasSize(2);
  }

  /** What is there is told as the claim's that has the key now; what was there and is free is told as nobody's. */
  @Test
  void own_namesWhoHasTheKeyNow() {
    Claim first = claim();
    grant(first);
    end(first);
    Claim next = claim();
    grant(next);
    assertThat(Await.value(store.own())).containsOnlyKeys(next.id());
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("LeaseTimeToLive", 0);
    CompletionStage<?> asked = store.own();
    Calls.Parked<?, ?> held = Await.value(parked);
    Await.value(held.letGo());
    end(next);
    Await.value(asked.thenApply(seen -> true));
    EtcdSeats.Seat seat = new EtcdSeats.Seat(name, EtcdSeats.FIRST);
    ClaimId nobody = new ClaimId(engine.runtime().client(), EtcdSeats.FIRST);
    assertThat(context.seats.owner(seat, nobody)).isEmpty();
    EtcdSeats.Seat lost = new EtcdSeats.Seat(name, EtcdSeats.FIRST + 99);
    assertThat(context.seats.owner(lost, nobody)).contains(nobody);
  }

  /** A holder that comes back to the end of the queue has the same key as before: whoever watched that is not misled. */
  @Test
  void holderThatComesBackWithItsKey_isBehindWhoWatchedIt() {
    Claim holder = claim();
    ByteSequence key = grant(holder).key;
    Claim waiter = claim();
    Claim again = claim();
    CompletableFuture<Calls.Parked<?, ?>> parked = calls.park("Watch", 0);
    assertThat(Await.value(ask(waiter))).isInstanceOf(Answer.Busy.class);
    Calls.Parked<?, ?> watch = Await.value(parked);
    end(holder);
    assertThat(Await.value(ask(again))).isInstanceOf(Answer.Busy.class);
    assertThat(mine(again).key).isEqualTo(key);
    assertThat(watch.letGo()).as("it ends with the client").isNotNull();
    Await.until(
        "the next one is granted",
        () -> engine.told.stream().anyMatch(each -> each.startsWith("granted " + waiter.id())));
    assertThat(engine.told).noneMatch(each -> each.startsWith("granted " + again.id()));
    end(waiter);
    Await.until(
        "and then the one that came back",
        () -> engine.told.stream().anyMatch(each -> each.startsWith("granted " + again.id())));
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
