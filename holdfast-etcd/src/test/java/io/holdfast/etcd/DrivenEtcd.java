// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A store on the server of these tests that a test drives itself, in the engine's place. */
final class DrivenEtcd implements AfterEachCallback {
  static final LockKey JOB = LockKey.of("job");
  static final Duration LEASE = Duration.ofSeconds(60);

  final String prefix = EtcdUnderTest.nextPrefix();
  final EtcdOperator operator = new EtcdOperator(prefix);

  /** Between the store and the server. */
  final Calls calls = new Calls();

  final SteppedTicker ticker = new SteppedTicker();
  final RecordingStart engine = new RecordingStart(ticker);

  /** Given to the store. */
  final Client client = EtcdUnderTest.client().interceptor(calls).build();

  final EtcdStore store =
      EtcdStore.using(client, EtcdSettings.builder().prefix(prefix).build());
  final EtcdContext context;
  private final Map<ClaimId, ByteSequence> keyOf = new HashMap<>();

  DrivenEtcd() {
    store.start(engine.runtime(), engine);
    Await.value(store.connect().thenApply(nothing -> true));
    context = store.context();
  }

  @Override
  public void afterEach(ExtensionContext test) {
    store.close();
    client.close();
    operator.close();
  }

  /** A context of its own past {@link #calls}: it knows none of the store's claims. */
  EtcdContext anotherContext() {
    EtcdCalls past = new EtcdCalls("test", EtcdClient.given(operator.client), engine);
    return new EtcdContext(past, new EtcdKeys(prefix), engine.runtime(), engine);
  }

  /** What was asked, and one of its requests, which is parked, or its answer is. */
  record Late<T>(T asked, Calls.Parked parked) {
    /** Lets it go, and returns when the store has the answer. */
    void letGo() {
      Await.value(parked.letGo());
    }
  }

  /** Asks, and parks a request of that, after some others of its kind. */
  <T> Late<T> late(String method, int after, Supplier<T> ask) {
    return late(calls.park(method, after), ask);
  }

  /** Asks, and parks the answer to a request of that, after some others of its kind. */
  <T> Late<T> answeredLate(String method, int after, Supplier<T> ask) {
    return answeredLate(method, after, () -> {}, ask);
  }

  /** The same, and does something before that request is sent. */
  <T> Late<T> answeredLate(String method, int after, Runnable before, Supplier<T> ask) {
    return late(calls.parkAnswer(method, after, before), ask);
  }

  private static <T> Late<T> late(CompletableFuture<Calls.Parked> parked, Supplier<T> ask) {
    T asked = ask.get();
    return new Late<>(asked, Await.value(parked));
  }

  Claim claim() {
    return claim(LEASE);
  }

  Claim claim(Duration lease) {
    return engine.claim(JOB, lease);
  }

  /** A claim that has the lock. */
  Claim holder() {
    Claim holder = claim();
    grant(holder);
    return holder;
  }

  /** A claim that stands in the queue. */
  Claim waiter() {
    Claim waiter = claim();
    assertThat(attempt(waiter, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    return waiter;
  }

  /** A claim that stands in the queue, and has asked for its place when its watch had begun: it asks no more until something changes. */
  Claim watcher() {
    long before = looks();
    Claim waiter = waiter();
    Await.until("it has asked", () -> looks() > before);
    return waiter;
  }

  /** A claim that waits behind another one, and hears nothing of it. */
  Claim deafWaiter() {
    Claim waiter = watcher();
    mine(waiter).stopWaiting();
    return waiter;
  }

  /** How often a waiter has asked for its place, should it have changed. */
  private long looks() {
    return calls.texts().stream()
        .filter(each -> each.contains("failure {")
            && each.contains("sort_order")
            && !each.contains("request_put"))
        .count();
  }

  CompletionStage<Answer> ask(Claim claim, Mode mode) {
    return store.attempt(claim, mode, soon());
  }

  /** When an attempt is given up: not while a test lasts. */
  Instant soon() {
    return store.time().plusSeconds(60);
  }

  Answer attempt(Claim claim, Mode mode) {
    Answer answer = Await.value(ask(claim, mode));
    note(claim);
    return answer;
  }

  /** Queues, and has the lock at once; returns the grant's revision. */
  long grant(Claim claim) {
    Answer answer = attempt(claim, Mode.QUEUE);
    assertThat(answer).isInstanceOf(Answer.Granted.class);
    return ((Answer.Granted) answer).grant().revision();
  }

  /** The revision that the engine was told when it was a waiter's turn, if it was. */
  Optional<Long> turn(Claim waiter) {
    return engine.told.stream()
        .filter(each -> each.startsWith("granted " + waiter.id() + " "))
        .findFirst()
        .map(each -> Long.parseLong(each.substring(each.lastIndexOf(' ') + 1)));
  }

  long awaitTurn(Claim waiter) {
    return Await.present("the turn of " + waiter.id(), () -> turn(waiter));
  }

  Ended end(Claim claim) {
    return end(claim, Duration.ZERO);
  }

  Ended end(Claim claim, Duration keepFor) {
    return Await.value(store.end(claim, keepFor, Instant.MIN));
  }

  Kept keep(Claim claim) {
    return Await.value(store.keep(List.of(claim))).getOrDefault(claim.id(), new Kept.Unknown());
  }

  /** What the store remembers of a claim. */
  EtcdClaim mine(Claim claim) {
    return context.known(claim.id()).orElseThrow();
  }

  /** What is on the server for a claim; its key is known here also when the store has forgotten it. */
  KeyValue key(Claim claim) {
    note(claim);
    return key(Objects.requireNonNull(keyOf.get(claim.id())));
  }

  KeyValue key(ByteSequence key) {
    return operator.keys().stream()
        .filter(each -> each.getKey().equals(key))
        .findFirst()
        .orElseThrow();
  }

  private void note(Claim claim) {
    context.known(claim.id()).ifPresent(mine -> keyOf.put(claim.id(), mine.key));
  }
}
