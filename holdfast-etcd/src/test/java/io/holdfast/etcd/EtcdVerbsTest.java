// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The verbs on a real server, and what they leave there. */
class EtcdVerbsTest {
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Holder HOLDER = new Holder("test", "here", 1, "main", "");

  private final String prefix = EtcdUnderTest.nextPrefix();
  private final Client client =
      Client.builder().endpoints("http://" + EtcdUnderTest.server().endpoint()).build();
  private final RecordingStart engine = new RecordingStart();
  private final EtcdStore store =
      EtcdStore.using(client, EtcdSettings.builder().prefix(prefix).build());
  private final LockKey name = LockKey.of("job");
  private final Map<ClaimId, ByteSequence> keyOf = new HashMap<>();
  private long claims;

  EtcdVerbsTest() {
    store.start(engine.runtime(), engine);
    Await.value(store.connect().thenApply(nothing -> true));
  }

  @AfterEach
  void close() {
    store.close();
    client.close();
  }

  private Claim claim() {
    return claim(LEASE);
  }

  private Claim claim(Duration lease) {
    ClaimId id = new ClaimId(engine.runtime().client(), ++claims);
    return new Claim(id, name, 1, 1, lease, false, HOLDER);
  }

  private Instant soon() {
    return store.time().plusSeconds(60);
  }

  private Answer attempt(Claim claim, Mode mode) {
    Answer answer = Await.value(store.attempt(claim, mode, soon()));
    store.context().known(claim.id()).ifPresent(mine -> keyOf.put(claim.id(), mine.key));
    return answer;
  }

  private long grant(Claim claim, Mode mode) {
    Answer answer = attempt(claim, mode);
    assertThat(answer).isInstanceOf(Answer.Granted.class);
    return ((Answer.Granted) answer).grant().revision();
  }

  private Ended end(Claim claim) {
    return Await.value(store.end(claim, Duration.ZERO, Instant.MIN));
  }

  private Kept keep(Claim claim) {
    return Await.value(store.keep(List.of(claim))).getOrDefault(claim.id(), new Kept.Unknown());
  }

  private GetResponse keys() {
    return Await.value(client
        .getKVClient()
        .get(bytes(prefix), GetOption.builder().isPrefix(true).build()));
  }

  /** Remembers the key of a claim while the store knows it. */
  private ByteSequence note(Claim claim) {
    store.context().known(claim.id()).ifPresent(mine -> keyOf.put(claim.id(), mine.key));
    return Objects.requireNonNull(keyOf.get(claim.id()));
  }

  private KeyValue key(Claim claim) {
    ByteSequence key = note(claim);
    return keys().getKvs().stream()
        .filter(each -> each.getKey().equals(key))
        .findFirst()
        .orElseThrow();
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }

  private long granted(Claim claim) {
    return Await.present(
        "the turn",
        () -> engine.told.stream()
            .filter(each -> each.startsWith("granted " + claim.id() + " "))
            .findFirst()
            .map(each -> Long.parseLong(each.substring(each.lastIndexOf(' ') + 1))));
  }

  /** The revision is when the key was made, however often it is put again. */
  @Test
  void revision_isTheCreateRevision() {
    Claim first = claim();
    long revision = grant(first, Mode.QUEUE);
    assertThat(key(first).getCreateRevision()).isEqualTo(revision);
    for (int again = 0; again < 2; again++) {
      assertThat(grant(first, Mode.QUEUE)).isEqualTo(revision);
    }
    Claim second = claim();
    assertThat(attempt(second, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    assertThat(end(first).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(granted(second)).isGreaterThan(revision);
    assertThat(keep(second)).isInstanceOf(Kept.Held.class);
    assertThat(key(second).getCreateRevision()).isEqualTo(granted(second));
    assertThat(end(second).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(end(second).outcome()).isEqualTo(Outcome.NOT_THERE);
  }

  /** An end says what it ended: a place in the queue is not the lock. */
  @Test
  void end_ofAWaiter_isAWithdrawal() {
    Claim holder = claim();
    grant(holder, Mode.QUEUE);
    Claim waiter = claim();
    attempt(waiter, Mode.QUEUE);
    Ended ended = end(waiter);
    assertThat(ended.outcome()).isEqualTo(Outcome.WITHDRAWN);
    assertThat(ended.othersWait()).isTrue();
    assertThat(end(holder).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(keys().getKvs()).isEmpty();
  }

  /** One lease for all holds of one length, and one for all that wait. */
  @Test
  void leases_areShared() {
    Claim first = claim();
    grant(first, Mode.QUEUE);
    Claim second = claim();
    attempt(second, Mode.QUEUE);
    Claim third = claim();
    attempt(third, Mode.QUEUE);
    Claim elsewhere = new Claim(
        new ClaimId(engine.runtime().client(), ++claims),
        LockKey.of("other"),
        1,
        1,
        LEASE,
        false,
        HOLDER);
    assertThat(attempt(elsewhere, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    assertThat(key(elsewhere).getLease()).isEqualTo(key(first).getLease());
    Await.until(
        "those that wait share another",
        () -> key(second).getLease() == key(third).getLease()
            && key(second).getLease() != key(first).getLease());
    end(first);
    granted(second);
    assertThat(keep(second)).isInstanceOf(Kept.Held.class);
    assertThat(key(second).getLease()).isEqualTo(key(elsewhere).getLease());
    List.of(second, third, elsewhere).forEach(this::end);
    assertThat(keys().getKvs()).isEmpty();
  }

  @Test
  void tryThatIsBusy_leavesNothing() {
    Claim holder = claim();
    grant(holder, Mode.TRY);
    long revision = keys().getHeader().getRevision();
    assertThat(attempt(claim(), Mode.TRY)).isInstanceOf(Answer.Busy.class);
    assertThat(keys().getKvs()).hasSize(1);
    assertThat(keys().getHeader().getRevision()).isEqualTo(revision);
    end(holder);
  }

  @Test
  void attempt_afterGiveUpAt_isLate() {
    Instant past = store.time().minusMillis(1);
    assertThat(Await.value(store.attempt(claim(), Mode.QUEUE, past)))
        .isInstanceOf(Answer.Late.class);
    assertThat(keys().getKvs()).isEmpty();
  }

  /** etcd issue 11456: who died while it was queued does not hold the lock when its turn comes. */
  @Test
  void waiterThatDiedInTheQueue_isNotGranted() {
    Claim holder = claim();
    long first = grant(holder, Mode.QUEUE);
    Claim waiter = claim();
    attempt(waiter, Mode.QUEUE);
    Await.until("it waits", () -> key(waiter).getLease() != key(holder).getLease());
    Await.value(client.getLeaseClient().revoke(key(waiter).getLease()));
    Claim next = claim();
    attempt(next, Mode.QUEUE);
    end(holder);
    assertThat(granted(next)).isGreaterThan(first);
    assertThat(engine.told).noneMatch(each -> each.startsWith("granted " + waiter.id()));
    Await.until("it is told to ask again", () -> engine.told.contains("lookAgain " + waiter.id()));
    assertThat(keep(waiter)).isInstanceOf(Kept.Gone.class);
    // asked again it stands behind
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    end(next);
    assertThat(granted(waiter)).isGreaterThan(first);
    end(waiter);
  }

  /** Who was before has gone before the watch began: no event comes, and what is there is read. */
  @Test
  void predecessorThatWentBeforeTheWatch_isNoticed() {
    EtcdCalls calls = new EtcdCalls("test", client, engine);
    EtcdContext context = new EtcdContext(calls, new EtcdKeys(prefix), engine.runtime(), engine);
    ByteSequence gone = context.keys.claim(name, new ClaimId("somebody", 1));
    Claim waiter = claim();
    long revision = grant(waiter, Mode.QUEUE);
    EtcdClaim mine = context.asking(waiter);
    mine.place.seen(key(waiter));
    mine.startWaiting(context).orElseThrow().begin(gone);
    assertThat(granted(waiter)).isEqualTo(revision);
    end(waiter);
  }

  /** An operator revoked the lease: it is told at the next renewal, and the next claim gets another one. */
  @Test
  void leaseRevoked_isGone() {
    Claim holder = claim();
    grant(holder, Mode.QUEUE);
    Await.value(client.getLeaseClient().revoke(key(holder).getLease()));
    assertThat(keep(holder)).isInstanceOf(Kept.Gone.class);
    Claim next = claim();
    grant(next, Mode.QUEUE);
    assertThat(keep(next)).isInstanceOf(Kept.Held.class);
    assertThat(end(holder).outcome()).isEqualTo(Outcome.NOT_THERE);
    end(next);
  }

  @Test
  void leaseRevoked_beforeTheNextAttempt_isReplaced() {
    Claim holder = claim();
    grant(holder, Mode.QUEUE);
    long lease = key(holder).getLease();
    Await.value(client.getLeaseClient().revoke(lease));
    Claim next = claim();
    grant(next, Mode.QUEUE);
    assertThat(key(next).getLease()).isNotEqualTo(lease);
    end(next);
  }

  /** Neither what waits nor what comes needs revisions that are gone. */
  @Test
  void compaction_whileSomebodyWaits() {
    Claim holder = claim();
    grant(holder, Mode.QUEUE);
    Claim waiter = claim();
    attempt(waiter, Mode.QUEUE);
    Await.until("it waits", () -> key(waiter).getLease() != key(holder).getLease());
    long now = keys().getHeader().getRevision();
    Await.value(client.getKVClient().compact(now));
    end(holder);
    assertThat(granted(waiter)).isPositive();
    end(waiter);
  }

  /** A kept lock has a lease of its own, keeps its place, and is none of the client's claims any more. */
  @Test
  void keptLock_hasALeaseOfItsOwn() {
    Claim holder = claim();
    long revision = grant(holder, Mode.QUEUE);
    long lease = key(holder).getLease();
    assertThat(Await.value(store.own())).containsOnlyKeys(holder.id());
    Duration keepFor = Duration.ofMinutes(10);
    Ended ended = Await.value(store.end(holder, keepFor, Instant.MIN));
    assertThat(ended.outcome()).isEqualTo(Outcome.RELEASED);
    KeyValue kept = key(holder);
    assertThat(kept.getCreateRevision()).isEqualTo(revision);
    assertThat(kept.getLease()).isNotEqualTo(lease);
    long ttl = Await.value(client.getLeaseClient().timeToLive(kept.getLease(), LeaseOption.DEFAULT))
        .getTTL();
    assertThat(ttl).isBetween(500L, 600L);
    assertThat(Await.value(store.own())).isEmpty();
    // an end that is repeated, because its answer was lost, does not keep it longer
    assertThat(Await.value(store.end(holder, keepFor, Instant.MIN)).outcome())
        .isEqualTo(Outcome.RELEASED);
    assertThat(key(holder).getLease()).isEqualTo(kept.getLease());
    assertThat(Await.value(store.evict(name, revision))).isTrue();
    assertThat(keys().getKvs()).isEmpty();
  }

  /** An attempt without an answer is called off by the end: it is not applied however late it comes. */
  @Test
  void end_whileAnAttemptHasNoAnswer_callsItOff() {
    EtcdCalls calls = new EtcdCalls("test", client, engine);
    EtcdContext context = new EtcdContext(calls, new EtcdKeys(prefix), engine.runtime(), engine);
    Claim claim = claim();
    EtcdClaim mine = context.asking(claim);
    EtcdLease.Term term = Await.value(context.lease(LEASE).young());
    assertThat(mine.sent(term)).isPresent();
    Ended ended = Await.value(
        new EtcdEnding(context).end(claim, Duration.ZERO, context.clock.now().minusMillis(1)));
    assertThat(ended.outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(ended.isFinal()).isTrue();
    assertThat(term.epoch).isEqualTo(1);
    assertThat(keys().getKvs()).hasSize(1);
    // the late one carries the former epoch: it fails for that, and only what asks again gets in
    term.epoch = 0;
    Answer again =
        Await.value(new EtcdAttempt(context, context.asking(claim), Mode.QUEUE, soon()).run());
    assertThat(again).isInstanceOf(Answer.Granted.class);
    assertThat(term.epoch).isEqualTo(1);
    keyOf.put(claim.id(), context.known(claim.id()).orElseThrow().key);
    assertThat(key(claim).getVersion()).as("times that the key was put").isEqualTo(1);
    assertThat(Await.value(new EtcdEnding(context).end(claim, Duration.ZERO, Instant.MIN))
            .outcome())
        .isEqualTo(Outcome.RELEASED);
  }

  /** As long as an attempt may still be sent, an end is not final. */
  @Test
  void end_beforeGiveUpAt_isNotFinal() {
    Claim claim = claim();
    grant(claim, Mode.QUEUE);
    assertThat(Await.value(store.end(claim, Duration.ZERO, soon())).isFinal()).isFalse();
    assertThat(end(claim).isFinal()).isTrue();
  }

  /** What a newer version wrote is refused, and left as it is. */
  @Test
  void newerFormat_isRefused() {
    ByteSequence key = bytes(prefix + "lock/job\t00-1");
    Await.value(client.getKVClient().put(key, bytes("2\nwhatever")));
    Throwable refused = Await.failure(store.attempt(claim(), Mode.TRY, soon()));
    assertThat(refused)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("newer version of Holdfast");
    Throwable look = Await.failure(store.inspect(name));
    assertThat(look).hasMessageContaining("newer version of Holdfast");
    assertThat(keys().getKvs()).hasSize(1);
    Await.value(client.getKVClient().delete(key));
  }

  @Test
  void keep_ofManyClaims_isAnsweredForEach() {
    Map<ClaimId, Kept> none = Await.value(store.keep(List.of(claim())));
    assertThat(none.values()).allMatch(each -> each instanceof Kept.Gone);
    List<Claim> many = IntStream.range(0, 130)
        .mapToObj(i -> new Claim(
            new ClaimId(engine.runtime().client(), ++claims),
            LockKey.of("many-" + i),
            1,
            1,
            LEASE,
            false,
            HOLDER))
        .toList();
    many.forEach(each -> assertThat(attempt(each, Mode.QUEUE)).isInstanceOf(Answer.Granted.class));
    Map<ClaimId, Kept> kept = Await.value(store.keep(many));
    assertThat(kept).hasSize(130);
    assertThat(kept.values()).allMatch(each -> each instanceof Kept.Held);
    many.forEach(this::end);
    assertThat(keys().getKvs()).isEmpty();
  }

  /** A given client is used, and not closed. */
  @Test
  void givenClient_staysOpen() {
    store.close();
    assertThat(keys().getKvs()).isEmpty();
  }

  @Test
  void versionsThatEndLeasesEarly() {
    assertThat(List.of("3.4.23", "3.5.8", "3.3.10")).allMatch(EtcdDoctor::endsLeasesEarly);
    assertThat(List.of("3.4.25", "3.5.9", "3.6.0", "unknown"))
        .noneMatch(EtcdDoctor::endsLeasesEarly);
  }
}
