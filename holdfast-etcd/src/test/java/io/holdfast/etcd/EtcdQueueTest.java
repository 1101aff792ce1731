// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.KeyValue;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a place in the queue costs: the server reads a queue whole where it is asked for its first or its last key. */
@Tag("stores")
class EtcdQueueTest {
  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private final Calls calls = etcd.calls;

  /** The requests from some request on that have a queue read whole. */
  private List<String> wholeReadsFrom(int first) {
    List<String> all = calls.texts();
    return all.subList(first, all.size()).stream()
        .filter(each -> each.contains("sort_order"))
        .toList();
  }

  private int sent() {
    return calls.texts().size();
  }

  @Test
  void keptClaims_readNoQueue() {
    Claim holder = etcd.holder();
    Claim second = etcd.watcher();
    Claim third = etcd.watcher();
    etcd.keep(second);
    etcd.keep(third);
    int before = sent();
    Kept held = etcd.keep(holder);
    assertThat(held).isInstanceOf(Kept.Held.class);
    assertThat(((Kept.Held) held).grant().othersWait()).isTrue();
    assertThat(etcd.keep(second)).isInstanceOf(Kept.Queued.class);
    assertThat(etcd.keep(third)).isInstanceOf(Kept.Queued.class);
    assertThat(wholeReadsFrom(before)).isEmpty();
    etcd.end(third);
    etcd.end(second);
    Kept alone = etcd.keep(holder);
    assertThat(((Kept.Held) alone).grant().othersWait()).isFalse();
    assertThat(wholeReadsFrom(before)).isEmpty();
    etcd.end(holder);
  }

  @Test
  void endOfAPlacedClaim_readsNoQueue() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.deafWaiter();
    int before = sent();
    assertThat(etcd.end(waiter).outcome()).isEqualTo(Outcome.WITHDRAWN);
    assertThat(etcd.end(holder).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(wholeReadsFrom(before)).isEmpty();
  }

  /** The end of the key ahead was not told. */
  @Test
  void keyAheadThatIsGone_isNoticed() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.deafWaiter();
    Claim third = etcd.deafWaiter();
    etcd.end(holder);
    assertThat(etcd.keep(third)).isInstanceOf(Kept.Queued.class);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Held.class);
    etcd.end(third);
    etcd.end(waiter);
  }

  /** A claim of the same client has that key now, behind ours. */
  @Test
  void keyAheadThatIsAnothersNow_isNotTakenForIt() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.deafWaiter();
    var key = etcd.mine(holder).key;
    etcd.end(holder);
    Claim next = etcd.deafWaiter();
    assertThat(etcd.mine(next).key).isEqualTo(key);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.keep(next)).isInstanceOf(Kept.Queued.class);
    etcd.end(next);
    etcd.end(waiter);
  }

  @Test
  void deletedKeyOfAWaiter_isGone() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.deafWaiter();
    Claim third = etcd.deafWaiter();
    etcd.operator.delete(etcd.key(waiter).getKey());
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Gone.class);
    assertThat(etcd.keep(third)).isInstanceOf(Kept.Queued.class);
    assertThat(etcd.keep(holder)).isInstanceOf(Kept.Held.class);
    etcd.end(third);
    etcd.end(waiter);
    etcd.end(holder);
  }

  /** The key of a holder was deleted, and made again behind a waiter, as by a request that was held up. */
  @Test
  void keyOfAHolder_thatIsMadeAgainBehindOthers_isNotTheFirst() {
    Claim holder = etcd.holder();
    Claim waiter = etcd.deafWaiter();
    KeyValue key = etcd.key(holder);
    etcd.operator.delete(key.getKey());
    etcd.operator.put(key.getKey(), key.getValue().toString(), key.getLease());
    assertThat(etcd.keep(holder)).isNotInstanceOf(Kept.Held.class);
    assertThat(etcd.keep(waiter)).isInstanceOf(Kept.Held.class);
    assertThat(etcd.keep(holder)).isNotInstanceOf(Kept.Held.class);
    etcd.end(waiter);
    etcd.end(holder);
  }

  /** One of many claims that are kept together has changed: the others are what they were. */
  @Test
  void keptTogether_doNotDisturbEachOther() {
    Claim holder = etcd.holder();
    List<Claim> waiters = new ArrayList<>();
    for (int i = 0; i < 70; i++) {
      waiters.add(etcd.deafWaiter());
    }
    etcd.operator.delete(etcd.key(waiters.get(7)).getKey());
    var kept = Await.value(etcd.store.keep(waiters));
    for (int i = 0; i < waiters.size(); i++) {
      assertThat(kept.get(waiters.get(i).id()))
          .isInstanceOf(i == 7 ? Kept.Gone.class : Kept.Queued.class);
    }
    waiters.forEach(etcd::end);
    etcd.end(holder);
  }

  /** Every member applies a transaction that writes: none of those reads a long queue. */
  @Test
  void longQueue_isReadByNoTransactionThatWrites() {
    Claim holder = etcd.holder();
    List<Claim> waiters = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      waiters.add(etcd.deafWaiter());
    }
    int before = sent();
    waiters.add(etcd.deafWaiter());
    assertThat(etcd.attempt(waiters.get(40), Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    assertThat(wholeReadsFrom(before)).isNotEmpty().noneMatch(each -> each.contains("request_put"));
    assertThat(etcd.keep(waiters.get(40))).isInstanceOf(Kept.Queued.class);
    waiters.forEach(etcd::end);
    etcd.end(holder);
  }
}
