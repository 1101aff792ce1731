// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Moment;
import io.holdfast.etcd.DrivenEtcd.Late;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Kept;
import io.holdfast.spi.Mode;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Leases whose requests take long, and leases that have ended. */
@Tag("stores")
class EtcdLeaseTest {
  private static final Duration LEASE = DrivenEtcd.LEASE;

  @RegisterExtension
  final DrivenEtcd etcd = new DrivenEtcd();

  private final Calls calls = etcd.calls;

  /** An attempt is given up while its lease is being made: it puts nothing when the lease is there. */
  @Test
  void attempt_whoseLeaseComesAfterGiveUpAt_isLate() {
    Instant giveUpAt = etcd.store.time().plusSeconds(5);
    Late<CompletionStage<Answer>> late =
        etcd.late("LeaseGrant", 0, () -> etcd.store.attempt(etcd.claim(), Mode.QUEUE, giveUpAt));
    int sent = calls.sent("Txn");
    etcd.ticker.pass(Duration.ofSeconds(6));
    late.letGo();
    assertThat(Await.value(late.asked())).isInstanceOf(Answer.Late.class);
    assertThat(calls.sent("Txn")).isEqualTo(sent);
    assertThat(etcd.operator.all().getKvs()).isEmpty();
  }

  /** A renewed lease's time runs from before the request that renewed it, however long that takes. */
  @Test
  void renewal_countsFromBeforeTheRequest() {
    Claim holder = etcd.holder();
    etcd.ticker.pass(LEASE.dividedBy(3));
    Duration slow = LEASE.dividedBy(6);
    calls.during("LeaseKeepAlive", () -> etcd.ticker.pass(slow));
    long asked = etcd.ticker.nanos();
    Kept kept = etcd.keep(holder);
    long answered = etcd.ticker.nanos();
    assertThat(kept).isInstanceOf(Kept.Held.class);
    long anchor = ((Kept.Held) kept).grant().anchor().nanos();
    assertThat(anchor - asked).as("it is renewed").isNotNegative();
    assertThat(answered - anchor).isGreaterThanOrEqualTo(slow.toNanos());
  }

  /** Callers share a renewal that is under way, but not one that may have been lost. */
  @Test
  void renewalUnderWay_servesTheNextCallerToo() {
    // a slow machine lets no time pass here
    etcd.ticker.stop();
    EtcdLease.Term term = Await.value(etcd.context.lease(LEASE).young());
    int sent = calls.sent("LeaseKeepAlive");
    Late<CompletableFuture<Moment>> late = etcd.late("LeaseKeepAlive", 0, term::renew);
    CompletableFuture<Moment> shared = term.renew();
    assertThat(calls.sent("LeaseKeepAlive") - sent).isEqualTo(1);
    etcd.ticker.pass(Duration.ofMillis(100));
    Moment later = Await.value(term.renew());
    assertThat(calls.sent("LeaseKeepAlive") - sent).isEqualTo(2);
    late.letGo();
    assertThat(Await.value(shared)).isSameAs(Await.value(late.asked()));
    assertThat(term.anchor()).as("the later one counts").isSameAs(later);
    Await.value(term.renew());
    assertThat(calls.sent("LeaseKeepAlive") - sent).isEqualTo(3);
  }

  /** A lease that must last until some moment is renewed at once, if the renewal that is under way was sent before. */
  @Test
  void leaseThatMustLastLonger_doesNotWaitForAnEarlierRenewal() {
    etcd.ticker.stop();
    EtcdLease lease = etcd.context.lease(LEASE);
    EtcdLease.Term term = Await.value(lease.young());
    etcd.ticker.pass(LEASE.dividedBy(2));
    Late<CompletableFuture<Moment>> late = etcd.late("LeaseKeepAlive", 0, term::renew);
    etcd.ticker.pass(Duration.ofMillis(50));
    long until = etcd.ticker.nanos() + LEASE.toNanos();
    assertThat(Await.value(lease.lasting(until))).isSameAs(term);
    assertThat(term.lasts(until)).isTrue();
    late.letGo();
    Await.value(late.asked());
    assertThat(term.lasts(until)).isTrue();
  }

  /** A lease that has ended is not renewed, and not used again. */
  @Test
  void renewal_ofALeaseThatEnded_fails() {
    EtcdLease lease = etcd.context.lease(LEASE);
    EtcdLease.Term term = Await.value(lease.young());
    etcd.operator.revoke(term.id);
    assertThat(Await.failure(term.renew())).matches(EtcdLease::isGone);
    assertThat(lease.current()).isNull();
    assertThat(lease.terms()).isEmpty();
  }
}
