// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.KeyValue;
import io.grpc.Status;
import io.holdfast.etcd.DrivenEtcd.Late;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
      Claim waiter = etcd.waiter();
      Await.until("it waits under the waiters' lease", () -> {
        EtcdLease.Term under = etcd.mine(waiter).place.settled();
        return under != null && under == etcd.context.waiting.current();
      });
      // deaf, so that it asks for nothing by itself
      etcd.mine(waiter).stopWaiting();
      queue.add(waiter);
    }
    // what a waiter asked for before it was deaf is answered before this
    Await.value(etcd.context.queues.place(etcd.mine(queue.get(0)), revision(queue.get(0))));
  }

  @AfterEach
  void endQueue() {
    queue.forEach(etcd::end);
  }

  private long revision(Claim claim) {
    return etcd.mine(claim).place.revision();
  }

  /** Asks for all places while the answer to the first question is held up. */
  private List<CompletionStage<EtcdQueues.Seen>> askAll(EtcdQueues queues, int[] sent) {
    List<CompletionStage<EtcdQueues.Seen>> asked = new ArrayList<>();
    sent[0] = calls.sent("Txn");
    Late<CompletableFuture<EtcdQueues.Seen>> first =
        etcd.late("Txn", 0, () -> queues.place(etcd.mine(queue.get(0)), revision(queue.get(0))));
    asked.add(first.asked());
    queue.stream()
        .skip(1)
        .forEach(each -> asked.add(queues.place(etcd.mine(each), revision(each))));
    assertThat(calls.sent("Txn") - sent[0]).as("sent side by side").isEqualTo(1);
    first.letGo();
    return asked;
  }

  private void assertPlaces(List<CompletionStage<EtcdQueues.Seen>> asked) {
    Claim before = null;
    for (int i = 0; i < asked.size(); i++) {
      EtcdQueues.Seen seen = Await.value(asked.get(i));
      assertThat(seen.own()).extracting(KeyValue::getKey).isEqualTo(etcd.mine(queue.get(i)).key);
      assertThat(seen.count()).isEqualTo(1 + WAITERS);
      assertThat(seen.first()).extracting(KeyValue::getKey).isEqualTo(etcd.mine(queue.get(0)).key);
      if (before == null) {
        assertThat(seen.before()).isNull();
      } else {
        assertThat(seen.before()).extracting(KeyValue::getKey).isEqualTo(etcd.mine(before).key);
      }
      before = queue.get(i);
    }
  }

  @Test
  void claimsThatAskMeanwhile_shareTheNextRead() {
    int[] sent = new int[1];
    assertPlaces(askAll(etcd.context.queues, sent));
    assertThat(calls.sent("Txn") - sent[0]).isEqualTo(2);
  }

  @Test
  void queueThatIsTooLongToBeListed_isReadForEach() {
    int[] sent = new int[1];
    assertPlaces(askAll(new EtcdQueues(etcd.context, WAITERS), sent));
    assertThat(calls.sent("Txn") - sent[0]).isEqualTo(1 + 1 + WAITERS);
  }

  /** A key that was made behind a queued one is not ahead of it, and one that has gone is not there. */
  @Test
  void claimWhoseKeyHasGone_hasNone() {
    Claim gone = queue.get(2);
    etcd.operator.delete(etcd.key(gone).getKey());
    List<CompletionStage<EtcdQueues.Seen>> asked = askAll(etcd.context.queues, new int[1]);
    assertThat(Await.value(asked.get(2)).own()).isNull();
    assertThat(Await.value(asked.get(3)).before())
        .extracting(KeyValue::getKey)
        .isEqualTo(etcd.mine(queue.get(1)).key);
  }

  /** A read that fails is no answer to those that came meanwhile: they get the next one's. */
  @Test
  void readThatFails_failsOnlyThoseThatSharedIt() {
    EtcdQueues queues = etcd.context.queues;
    EtcdClaim first = etcd.mine(queue.get(0));
    EtcdClaim second = etcd.mine(queue.get(1));
    Late<CompletableFuture<EtcdQueues.Seen>> late =
        etcd.late("Txn", 0, () -> queues.place(first, first.place.revision()));
    CompletionStage<EtcdQueues.Seen> next = queues.place(second, second.place.revision());
    calls.refuse("Txn", Status.UNAVAILABLE);
    late.letGo();
    assertThat(Await.value(late.asked()).before()).isNull();
    assertThat(Await.failure(next)).isNotNull();
    assertThat(Await.value(queues.place(second, second.place.revision())).before())
        .extracting(KeyValue::getKey)
        .isEqualTo(first.key);
  }

  /** A read that gets no answer keeps no other claim waiting for long. */
  @Test
  void readWithoutAnAnswer_isNotWaitedForByThoseThatAskLater() {
    EtcdQueues queues = etcd.context.queues;
    EtcdClaim first = etcd.mine(queue.get(0));
    EtcdClaim second = etcd.mine(queue.get(1));
    EtcdClaim third = etcd.mine(queue.get(2));
    Late<CompletableFuture<EtcdQueues.Seen>> late =
        etcd.late("Txn", 0, () -> queues.place(first, first.place.revision()));
    CompletionStage<EtcdQueues.Seen> gathered = queues.place(second, second.place.revision());
    etcd.ticker.pass(Duration.ofSeconds(1));
    EtcdQueues.Seen seen = Await.value(queues.place(third, third.place.revision()));
    assertThat(seen.before()).extracting(KeyValue::getKey).isEqualTo(second.key);
    assertThat(Await.value(gathered).before()).extracting(KeyValue::getKey).isEqualTo(first.key);
    late.letGo();
    assertThat(Await.value(late.asked()).before()).isNull();
  }

  /** While nothing has changed, a waiter that asks alone has no queue read. */
  @Test
  void waiterWhoseKeyAheadIsThere_seesNoChange() {
    EtcdClaim waiter = etcd.mine(queue.get(1));
    EtcdPlace.Ahead ahead = waiter.place.ahead();
    assertThat(ahead).isNotNull();
    Optional<EtcdQueues.Seen> changes =
        Await.value(etcd.context.queues.changes(waiter, waiter.place.revision(), ahead));
    assertThat(changes).isEmpty();
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
