// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.KeyValue;
import io.grpc.Status;
import io.holdfast.etcd.DrivenEtcd.Late;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims of one client that ask for their places at the same time. */
@Tag("stores")
class EtcdQueuesTest {
  private static final int WAITERS = 4;

  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private final Calls calls = etcd.calls;
  private final List<Claim> queue = new ArrayList<>();

  @BeforeEach
  void makeQueue() {
    queue.add(etcd.holder());
    for (int i = 0; i < WAITERS; i++) {
      // deaf, so that it asks for nothing by itself
      queue.add(etcd.deafWaiter());
    }
    // what a waiter asked for before it was deaf is answered before this
    Await.value(place(etcd.context.queues, 0));
  }

  @AfterEach
  void endQueue() {
    queue.forEach(etcd::end);
  }

  /** Makes a reader that repeats nothing while a test lasts. */
  private EtcdQueues queues() {
    return new EtcdQueues(etcd.context, EtcdQueues.LISTED, Duration.ofMinutes(1));
  }

  private long revision(Claim claim) {
    return etcd.mine(claim).place.revision();
  }

  private CompletableFuture<EtcdQueues.Seen> place(EtcdQueues queues, int of) {
    return queues.place(etcd.mine(queue.get(of)), revision(queue.get(of)));
  }

  private CompletableFuture<Optional<EtcdQueues.Seen>> changes(EtcdQueues queues, int of) {
    EtcdClaim claim = etcd.mine(queue.get(of));
    return queues.placeIfChanged(claim, claim.place.revision(), claim.place.ahead());
  }

  /** Asks for all places while the answer to the first question is held up. */
  private List<CompletableFuture<EtcdQueues.Seen>> askAll(EtcdQueues queues) {
    int sent = calls.sent("Txn");
    List<CompletableFuture<EtcdQueues.Seen>> asked = new ArrayList<>();
    Late<CompletableFuture<EtcdQueues.Seen>> first = etcd.late("Txn", 0, () -> place(queues, 0));
    asked.add(first.asked());
    for (int i = 1; i < queue.size(); i++) {
      asked.add(place(queues, i));
    }
    assertThat(calls.sent("Txn") - sent).as("sent side by side").isEqualTo(1);
    first.letGo();
    return asked;
  }

  private void assertPlaces(List<CompletableFuture<EtcdQueues.Seen>> asked) {
    for (int i = 0; i < asked.size(); i++) {
      EtcdQueues.Seen seen = Await.value(asked.get(i));
      assertIs(seen.own(), i);
      assertIs(seen.first(), 0);
      assertThat(seen.count()).isEqualTo(1 + WAITERS);
      if (i == 0) {
        assertThat(seen.before()).isNull();
      } else {
        assertIs(seen.before(), i - 1);
      }
    }
  }

  private void assertIs(@Nullable KeyValue seen, int of) {
    assertThat(seen).extracting(KeyValue::getKey).isEqualTo(etcd.mine(queue.get(of)).key);
  }

  @Test
  void claimsThatAskMeanwhile_shareTheNextRead() {
    int sent = calls.sent("Txn");
    assertPlaces(askAll(queues()));
    assertThat(calls.sent("Txn") - sent).isEqualTo(2);
  }

  @Test
  void queueThatIsTooLongToBeListed_isReadForEach() {
    int sent = calls.sent("Txn");
    assertPlaces(askAll(new EtcdQueues(etcd.context, WAITERS, Duration.ofMinutes(1))));
    assertThat(calls.sent("Txn") - sent).isEqualTo(1 + 1 + WAITERS);
  }

  @Test
  void claimWhoseKeyHasGone_hasNone() {
    etcd.operator.delete(etcd.key(queue.get(2)).getKey());
    List<CompletableFuture<EtcdQueues.Seen>> asked = askAll(queues());
    assertThat(Await.value(asked.get(2)).own()).isNull();
    assertIs(Await.value(asked.get(2)).before(), 1);
    assertIs(Await.value(asked.get(3)).before(), 1);
  }

  /** Of a claim whose key was put without an answer no revision is known: it gets its key, and what is ahead by asking again. */
  @Test
  void claimWhoseRevisionIsNotKnown_hasNoKeyBefore() {
    EtcdQueues queues = queues();
    EtcdClaim claim = etcd.mine(queue.get(2));
    assertThat(Await.value(queues.place(claim, 0)).before()).isNull();
    Late<CompletableFuture<EtcdQueues.Seen>> first = etcd.late("Txn", 0, () -> place(queues, 0));
    CompletableFuture<EtcdQueues.Seen> shared = queues.place(claim, 0);
    CompletableFuture<EtcdQueues.Seen> other = place(queues, 1);
    first.letGo();
    assertIs(Await.value(shared).own(), 2);
    assertThat(Await.value(shared).before()).isNull();
    assertIs(Await.value(other).before(), 0);
  }

  /** A read that fails, fails for all that share it, and for no others. */
  @Test
  void readThatFails_failsForThoseThatShareIt() {
    EtcdQueues queues = queues();
    Late<CompletableFuture<EtcdQueues.Seen>> first = etcd.late("Txn", 0, () -> place(queues, 0));
    CompletableFuture<EtcdQueues.Seen> second = place(queues, 1);
    CompletableFuture<EtcdQueues.Seen> third = place(queues, 2);
    calls.refuse("Txn", Status.UNAVAILABLE);
    first.letGo();
    assertThat(Await.value(first.asked()).before()).isNull();
    assertThat(Await.failure(second)).isNotNull();
    assertThat(Await.failure(third)).isNotNull();
    assertThat(etcd.engine.told).doesNotContain("disturbed");
    assertIs(Await.value(place(queues, 1)).before(), 0);
  }

  /** A read without an answer is waited for by no claim that asks later, though no other one comes to send it on. */
  @Test
  void readWithoutAnAnswer_holdsUpNoOtherForLong() {
    EtcdQueues queues = new EtcdQueues(etcd.context, EtcdQueues.LISTED, Duration.ofMillis(50));
    Late<CompletableFuture<EtcdQueues.Seen>> first = etcd.late("Txn", 0, () -> place(queues, 0));
    CompletableFuture<EtcdQueues.Seen> second = place(queues, 1);
    assertIs(Await.value(second).before(), 0);
    assertThat(first.asked()).isNotDone();
    // nothing is asked before the time of this one is over
    Late<CompletableFuture<EtcdQueues.Seen>> third = etcd.late("Txn", 0, () -> place(queues, 2));
    etcd.ticker.pass(Duration.ofMillis(50));
    assertIs(Await.value(place(queues, 3)).before(), 2);
    assertThat(third.asked()).isNotDone();
    third.letGo();
    first.letGo();
    assertIs(Await.value(third.asked()).before(), 1);
    assertIs(Await.value(first.asked()).own(), 0);
    assertIs(Await.value(place(queues, 3)).before(), 2);
  }

  /** While nothing has changed, waiters that know the keys ahead of them have no queue read, alone or together. */
  @Test
  void waitersWhoseKeysAheadAreThere_seeNoChange() {
    EtcdQueues queues = queues();
    Late<CompletableFuture<Optional<EtcdQueues.Seen>>> first =
        etcd.late("Txn", 0, () -> changes(queues, 1));
    CompletableFuture<Optional<EtcdQueues.Seen>> second = changes(queues, 2);
    CompletableFuture<Optional<EtcdQueues.Seen>> third = changes(queues, 3);
    first.letGo();
    assertThat(Await.value(first.asked())).isEmpty();
    assertThat(Await.value(second)).isEmpty();
    assertThat(Await.value(third)).isEmpty();
  }

  /** The key of one of them has gone: what is read then is told to all that asked together. */
  @Test
  void waiterWhoseKeyAheadHasGone_seesWhatIsAheadNow() {
    EtcdQueues queues = queues();
    Late<CompletableFuture<Optional<EtcdQueues.Seen>>> first =
        etcd.late("Txn", 0, () -> changes(queues, 1));
    CompletableFuture<Optional<EtcdQueues.Seen>> second = changes(queues, 2);
    CompletableFuture<Optional<EtcdQueues.Seen>> third = changes(queues, 3);
    etcd.operator.delete(etcd.key(queue.get(2)).getKey());
    first.letGo();
    assertThat(Await.value(first.asked())).isEmpty();
    assertThat(Await.value(second).orElseThrow().own()).isNull();
    assertIs(Await.value(third).orElseThrow().before(), 1);
  }

  /** Has a deaf waiter listen again, and returns when it has looked at what was there when it began. */
  private void watch(Claim waiter) {
    int sent = calls.sent("Txn");
    etcd.keep(waiter);
    Await.until("it has looked", () -> calls.sent("Txn") - sent >= 2);
    // behind that look
    Await.value(place(etcd.context.queues, 0));
  }

  /** A claim that waits looks for its place itself: the renewal that it is a part of waits for no queue to be read. */
  @Test
  void keptWaiter_whoseKeyAheadHasGone_hasNoQueueRead() {
    Claim waiter = queue.get(3);
    watch(waiter);
    CompletableFuture<Calls.Parked> look = calls.park("Txn", 0);
    int before = calls.texts().size();
    etcd.operator.delete(etcd.key(queue.get(2)).getKey());
    Calls.Parked parked = Await.value(look);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Queued.class);
    List<String> sent = calls.texts();
    assertThat(sent.subList(before, sent.size())).noneMatch(each -> each.contains("sort_order"));
    Await.value(parked.letGo());
    Await.until("it has another key ahead", () -> {
      EtcdPlace.Ahead ahead = etcd.mine(waiter).place.ahead();
      return ahead != null && ahead.key().equals(etcd.mine(queue.get(1)).key);
    });
  }

  /** A waiter's look has no answer: another one is sent when its claim is kept the next time. */
  @Test
  void lookWithoutAnAnswer_isFollowedByAnother() {
    Claim waiter = queue.get(1);
    watch(waiter);
    CompletableFuture<Calls.Parked> look = calls.park("Txn", 0);
    etcd.operator.delete(etcd.key(queue.get(0)).getKey());
    Calls.Parked parked = Await.value(look);
    etcd.ticker.pass(Duration.ofSeconds(2));
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Queued.class);
    etcd.awaitTurn(waiter);
    Await.value(parked.letGo());
  }

  /**
   * All waiters of a client have lost their places: those whose key ahead went are told, and come back, though they share
   * what they ask.
   */
  @Test
  void waitersWhoseLeaseEnds_areToldToLookAgain() {
    List<Claim> waiters = List.copyOf(queue.subList(2, queue.size()));
    waiters.forEach(each -> etcd.keep(each));
    Await.until("they wait", () -> calls.openWatches() >= 1);
    etcd.operator.revoke(Objects.requireNonNull(etcd.context.waiting.current()).id);
    for (Claim each : waiters) {
      Await.until(
          each.id() + " is told",
          () -> etcd.engine.told.stream()
              .anyMatch(told -> told.startsWith("lookAgain") && told.contains("" + each.id())));
      assertThat(etcd.attempt(each, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    }
    assertThat(etcd.operator.keys()).hasSize(1 + waiters.size());
  }
}
