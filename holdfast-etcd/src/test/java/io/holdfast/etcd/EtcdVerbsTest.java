// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.grpc.Status;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The verbs on a real server, and what they leave there. */
@Tag("stores")
@Tag("oldest")
class EtcdVerbsTest {
  private static final Duration LEASE = DrivenEtcd.LEASE;

  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private final EtcdOperator operator = etcd.operator;
  private final EtcdStore store = etcd.store;

  /** The revision is when the key was made, however often it is put again. */
  @Test
  void revision_isTheCreateRevision() {
    Claim first = etcd.claim();
    long revision = etcd.grant(first);
    assertThat(etcd.key(first).getCreateRevision()).isEqualTo(revision);
    for (int again = 0; again < 2; again++) {
      assertThat(etcd.grant(first)).isEqualTo(revision);
    }
    Claim second = etcd.waiter();
    assertThat(etcd.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(etcd.awaitTurn(second)).isGreaterThan(revision);
    assertThat(etcd.keep(second)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.key(second).getCreateRevision()).isEqualTo(etcd.awaitTurn(second));
    assertThat(etcd.end(second).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(etcd.end(second).outcome()).isEqualTo(Outcome.NOT_THERE);
  }

  /** An end says what it ended: a place in the queue is not the lock. */
  @Test
  void end_ofAWaiter_isAWithdrawal() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.waiter();
    Ended ended = etcd.end(waiter);
    assertThat(ended.outcome()).isEqualTo(Outcome.WITHDRAWN);
    assertThat(ended.othersWait()).isTrue();
    assertThat(etcd.end(holder).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(operator.all().getKvs()).isEmpty();
  }

  /** One lease for all holds of one length, and one for all that wait. */
  @Test
  void leases_areShared() {
    Claim first = etcd.holder();
    Claim second = etcd.waiter();
    Claim third = etcd.waiter();
    Claim elsewhere = etcd.engine.claim(LockKey.of("other"), LEASE);
    assertThat(etcd.attempt(elsewhere, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    assertThat(etcd.key(elsewhere).getLease()).isEqualTo(etcd.key(first).getLease());
    Await.until(
        "those that wait share another",
        () -> etcd.key(second).getLease() == etcd.key(third).getLease()
            && etcd.key(second).getLease() != etcd.key(first).getLease());
    etcd.end(first);
    etcd.awaitTurn(second);
    assertThat(etcd.keep(second)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.key(second).getLease()).isEqualTo(etcd.key(elsewhere).getLease());
    List.of(second, third, elsewhere).forEach(etcd::end);
    assertThat(operator.all().getKvs()).isEmpty();
  }

  @Test
  void tryThatIsBusy_leavesNothing() {
    Claim holder = etcd.claim();
    assertThat(etcd.attempt(holder, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    // meanwhile the server may delete what others have left under their leases
    Await.until("one has written nothing", () -> {
      long revision = operator.all().getHeader().getRevision();
      assertThat(etcd.attempt(etcd.claim(), Mode.TRY)).isInstanceOf(Answer.Busy.class);
      assertThat(operator.all().getKvs()).hasSize(1);
      return operator.all().getHeader().getRevision() == revision;
    });
    etcd.end(holder);
  }

  @Test
  void attempt_afterGiveUpAt_isLate() {
    Instant past = store.time().minusMillis(1);
    assertThat(Await.value(store.attempt(etcd.claim(), Mode.QUEUE, past)))
        .isInstanceOf(Answer.Late.class);
    assertThat(operator.all().getKvs()).isEmpty();
  }

  /** etcd issue 11456: who died while it was queued does not hold the lock when its turn comes. */
  @Test
  void waiterThatDiedInTheQueue_isNotGranted() {
    Claim holder = etcd.claim();
    long first = etcd.grant(holder);
    Claim waiter = etcd.waiter();
    Await.until(
        "it waits", () -> etcd.key(waiter).getLease() != etcd.key(holder).getLease());
    operator.revoke(etcd.key(waiter).getLease());
    Claim next = etcd.waiter();
    etcd.end(holder);
    assertThat(etcd.awaitTurn(next)).isGreaterThan(first);
    assertThat(etcd.turn(waiter)).isEmpty();
    Await.until(
        "it is told to ask again", () -> etcd.engine.told.contains("lookAgain " + waiter.id()));
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Gone.class);
    // asked again it stands behind
    assertThat(etcd.attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    etcd.end(next);
    assertThat(etcd.awaitTurn(waiter)).isGreaterThan(first);
    etcd.end(waiter);
  }

  /** Who was before has gone before the watch began: no event comes, and what is there is read. */
  @Test
  void predecessorThatWentBeforeTheWatch_isNoticed() {
    Claim before = etcd.holder();
    KeyValue gone = etcd.key(before);
    etcd.end(before);
    EtcdContext context = etcd.anotherContext();
    Claim waiter = etcd.claim();
    long revision = etcd.grant(waiter);
    EtcdClaim mine = context.asking(waiter);
    mine.place.seen(etcd.key(waiter));
    mine.place.behind(revision, gone);
    mine.startWaiting(context).orElseThrow().begin();
    assertThat(etcd.awaitTurn(waiter)).isEqualTo(revision);
    etcd.end(waiter);
  }

  /** An operator revoked the lease: it is told at the next renewal, and the next claim gets another one. */
  @Test
  void leaseRevoked_isGone() {
    Claim holder = etcd.holder();
    operator.revoke(etcd.key(holder).getLease());
    assertThat(etcd.keep(holder)).isInstanceOf(Kept.Gone.class);
    Claim next = etcd.holder();
    assertThat(etcd.keep(next)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.end(holder).outcome()).isEqualTo(Outcome.NOT_THERE);
    etcd.end(next);
  }

  @Test
  void leaseRevoked_beforeTheNextAttempt_isReplaced() {
    Claim holder = etcd.holder();
    long lease = etcd.key(holder).getLease();
    operator.revoke(lease);
    Claim next = etcd.holder();
    assertThat(etcd.key(next).getLease()).isNotEqualTo(lease);
    etcd.end(next);
  }

  /** Neither what waits nor what comes needs revisions that are gone. */
  @Test
  void compaction_whileSomebodyWaits() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.waiter();
    Await.until(
        "it waits", () -> etcd.key(waiter).getLease() != etcd.key(holder).getLease());
    operator.compact();
    etcd.end(holder);
    assertThat(etcd.awaitTurn(waiter)).isPositive();
    etcd.end(waiter);
  }

  /** What the client has is listed after each hiccup: if that puts holds at risk, it is the next hiccup. */
  @Test
  void listThatFails_disturbsNoHold() {
    etcd.holder();
    etcd.calls.refuse(
        "LeaseTimeToLive", Status.RESOURCE_EXHAUSTED.withDescription("message exceeds maximum"));
    Await.failure(store.own());
    assertThat(etcd.engine.told).doesNotContain("disturbed");
  }

  /** With so many holds that their keys are more than gRPC takes for an answer unless it is told otherwise. */
  @Test
  void listOfManyKeys_isRead() {
    RecordingStart engine = new RecordingStart();
    try (EtcdStore own = EtcdStore.at(
        StoreAddress.parse(EtcdUnderTest.server().uri() + "?holdfast.prefix=" + etcd.prefix))) {
      own.start(engine.runtime(), engine);
      Claim holder = engine.claim(LockKey.of("many"), LEASE);
      Answer answer = Await.value(own.attempt(holder, Mode.TRY, own.time().plusSeconds(60)));
      assertThat(answer).isInstanceOf(Answer.Granted.class);
      long lease = operator.keys().get(0).getLease();
      operator.putMany("x".repeat(1000), 5000, lease);
      assertThat(Await.value(own.own())).containsOnlyKeys(holder.id());
      Await.value(own.end(holder, Duration.ZERO, Instant.MIN));
    }
  }

  /** A kept lock has a lease of its own, keeps its place, and is none of the client's claims any more. */
  @Test
  void keptLock_hasALeaseOfItsOwn() {
    Claim holder = etcd.claim();
    long revision = etcd.grant(holder);
    long lease = etcd.key(holder).getLease();
    assertThat(Await.value(store.own())).containsOnlyKeys(holder.id());
    Duration keepFor = Duration.ofMinutes(10);
    Ended ended = etcd.end(holder, keepFor);
    assertThat(ended.outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = etcd.key(holder);
    assertThat(kept.getCreateRevision()).isEqualTo(revision);
    assertThat(kept.getLease()).isNotEqualTo(lease);
    assertThat(operator.timeLeft(kept.getLease())).isBetween(500L, 600L);
    assertThat(Await.value(store.own())).isEmpty();
    // an end that is repeated, because its answer was lost, does not keep it longer
    assertThat(etcd.end(holder, keepFor).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(etcd.key(holder).getLease()).isEqualTo(kept.getLease());
    assertThat(Await.value(store.evict(DrivenEtcd.JOB, revision))).isTrue();
    assertThat(operator.all().getKvs()).isEmpty();
  }

  /** An attempt without an answer is called off by the end: it is not applied however late it comes. */
  @Test
  void end_whileAnAttemptHasNoAnswer_callsItOff() {
    EtcdContext context = etcd.anotherContext();
    Claim claim = etcd.claim();
    EtcdClaim mine = context.asking(claim);
    EtcdLease.Term term = Await.value(context.lease(LEASE).young());
    assertThat(mine.sent(term)).isPresent();
    Ended ended = Await.value(
        new EtcdEnding(context).end(claim, Duration.ZERO, context.clock.now().minusMillis(1)));
    assertThat(ended.outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(ended.isFinal()).isTrue();
    assertThat(term.epoch).isEqualTo(1);
    assertThat(operator.all().getKvs()).hasSize(1);
    // the late one carries the former epoch: it fails for that, and only what asks again gets in
    term.epoch = 0;
    Answer again =
        Await.value(new EtcdAttempt(context, context.asking(claim), Mode.QUEUE, etcd.soon()).run());
    assertThat(again).isInstanceOf(Answer.Granted.class);
    assertThat(term.epoch).isEqualTo(1);
    ByteSequence key = context.known(claim.id()).orElseThrow().key;
    assertThat(etcd.key(key).getVersion()).as("times that the key was put").isEqualTo(1);
    assertThat(Await.value(new EtcdEnding(context).end(claim, Duration.ZERO, Instant.MIN))
            .outcome())
        .isEqualTo(Outcome.RELEASED);
  }

  /** As long as an attempt may still be sent, an end is not final. */
  @Test
  void end_beforeGiveUpAt_isNotFinal() {
    Claim claim = etcd.holder();
    assertThat(Await.value(store.end(claim, Duration.ZERO, etcd.soon())).isFinal())
        .isFalse();
    assertThat(etcd.end(claim).isFinal()).isTrue();
  }

  /** What a newer version wrote is refused, and left as it is. */
  @Test
  void newerFormat_isRefused() {
    operator.put(EtcdOperator.bytes(etcd.prefix + "lock/job\t00-1"), "2\nwhatever", 0);
    Throwable refused = Await.failure(etcd.ask(etcd.claim(), Mode.TRY));
    assertThat(refused)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("newer version of Holdfast");
    Throwable look = Await.failure(store.inspect(DrivenEtcd.JOB));
    assertThat(look).hasMessageContaining("newer version of Holdfast");
    assertThat(operator.all().getKvs()).hasSize(1);
    operator.deleteAll();
  }

  @Test
  void keep_ofManyClaims_isAnsweredForEach() {
    Map<ClaimId, Kept> none = Await.value(store.keep(List.of(etcd.claim())));
    assertThat(none.values()).allMatch(each -> each instanceof Kept.Gone);
    List<Claim> many = IntStream.range(0, 130)
        .mapToObj(i -> etcd.engine.claim(LockKey.of("many-" + i), LEASE))
        .toList();
    many.forEach(
        each -> assertThat(etcd.attempt(each, Mode.QUEUE)).isInstanceOf(Answer.Granted.class));
    Map<ClaimId, Kept> kept = Await.value(store.keep(many));
    assertThat(kept).hasSize(130);
    assertThat(kept.values()).allMatch(each -> each instanceof Kept.Held);
    many.forEach(etcd::end);
    assertThat(operator.all().getKvs()).isEmpty();
  }

  /** A given client is used, and not closed. */
  @Test
  void givenClient_staysOpen() {
    store.close();
    ByteSequence key = EtcdOperator.bytes(etcd.prefix);
    assertThat(Await.value(etcd.client.getKVClient().get(key)).getKvs()).isEmpty();
  }

  @Test
  void versionsThatEndLeasesEarly() {
    assertThat(List.of("3.3.10", "3.4.23", "3.4.30", "3.5.0", "3.5.9", "3.5.12"))
        .allMatch(EtcdDoctor::endsLeasesEarly);
    assertThat(List.of("3.4.31", "3.5.13", "3.6.0", "unknown"))
        .noneMatch(EtcdDoctor::endsLeasesEarly);
  }
}
