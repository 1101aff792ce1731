// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.AcquireUnknownException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent.Lost;
import io.holdfast.LockEvent.Renewed;
import io.holdfast.LockInfo;
import io.holdfast.LockOptions;
import io.holdfast.StoreUnavailableException;
import io.holdfast.redis.RespFrames.Frame;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each verb's request, on its way to a real server: lost, doubled, late, or with its reply lost. */
@Tag("stores")
class RequestFatesTest {
  private static final LockOptions LONG = ProxiedRedis.LONG;
  private static final Duration PLENTY = Duration.ofSeconds(10);

  @RegisterExtension
  static final ProxiedRedis REDIS = new ProxiedRedis();

  /** An attempt is repeated under the same claim: one hold, and nothing of the others. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY", "TWICE", "SILENCE"})
  void attempt_isGrantedOnce(Fate fate) throws Exception {
    Holdfast client = REDIS.through();
    Holdfast rival = REDIS.direct();
    Catch caught = REDIS.proxy().next("attempt", fate);
    Hold hold = client.lock("x", LONG).acquire(PLENTY);
    assertThat(caught.caught()).isDone();
    REDIS.assertHeldBy(hold);
    if (fate == Fate.LOSE_REPLY || fate == Fate.TWICE) {
      // the first copy was applied: the second one found that grant
      assertThat(Await.value(caught.answered()).kind()).isEqualTo("G");
      assertThat(Await.value(caught.answered()).revision()).isEqualTo(REDIS.revision());
    }
    assertThat(rival.lock("x", LONG).tryAcquire()).isEmpty();
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** The same for one that has to wait: one place in the queue. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY", "TWICE", "SILENCE"})
  void attempt_ofAWaiter_queuesOnce(Fate fate) throws Exception {
    Holdfast client = REDIS.through();
    Hold first = REDIS.direct().lock("x", LONG).acquire();
    Catch caught = REDIS.proxy().next("attempt", fate);
    CompletableFuture<Hold> waiter = client.lock("x", LONG).acquireAsync();
    Await.value(caught.caught());
    REDIS.awaitWaiters(1);
    CompletableFuture<Hold> next = REDIS.direct().lock("x", LONG).acquireAsync();
    REDIS.awaitWaiters(2);
    assertThat(first.release()).isTrue();
    Hold hold = Await.value(waiter);
    REDIS.assertHeldBy(hold);
    assertThat(hold.token()).isGreaterThan(first.token());
    ProxiedRedis.release(hold);
    // a second place in the queue would be before it
    REDIS.assertHeldBy(Await.value(next));
  }

  /** A try whose request, or reply, does not come: said as unknown in time, never as busy, and nothing is left. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REPLY", "SILENCE"})
  void try_withoutAnAnswer_isNotBusy(Fate fate) throws Exception {
    Holdfast client = REDIS.through();
    DistributedLock lock = client.lock("x", LONG);
    Catch caught = REDIS.proxy().next("attempt", fate);
    // the way back is closed too, or it would be asked again in time
    var unused = caught.caught().thenRun(REDIS.proxy()::refuse);
    assertThatThrownBy(() -> lock.tryAcquire().isPresent())
        .isInstanceOf(AcquireUnknownException.class);
    REDIS.proxy().mend();
    Await.until("it was withdrawn", () -> REDIS.proxy().count("end") > 0);
    Hold next = REDIS.direct().lock("x", LONG).acquire(PLENTY);
    assertThat(next.release()).isTrue();
  }

  /** An attempt was withdrawn, and arrives before its time is over: it is applied, and ended again. */
  @Test
  void attempt_thatArrivesAfterItsWithdrawal_isEndedAgain() throws Exception {
    Holdfast client = REDIS.through(Duration.ofSeconds(8));
    Catch late = withdrawn(client);
    late.letGo();
    assertThat(Await.value(late.answered()).kind()).isEqualTo("G");
    REDIS.awaitFree();
    // nobody ended it but the withdrawal, which was repeated: the lease would have gone on for ten minutes
    Hold next = REDIS.direct().lock("x", LONG).tryAcquire().orElseThrow();
    assertThat(next.token()).isGreaterThan(REDIS.revision());
    assertThat(next.release()).isTrue();
  }

  /** It arrives when its time is over: it is not applied. */
  @Test
  void attempt_thatArrivesAfterItsTime_isNotApplied() {
    Holdfast client = REDIS.through();
    Catch late = withdrawn(client);
    long giveUpAt = Long.parseLong(argument(Await.value(late.caught()), 2));
    Await.until("its time is over", () -> REDIS.micros() > giveUpAt);
    late.letGo();
    assertThat(Await.value(late.answered()).kind()).isEqualTo("L");
    assertThat(REDIS.redis().exists("holdfast:{x}")).isZero();
  }

  /** Lets an attempt be late, and its caller give up. */
  private static Catch withdrawn(Holdfast client) {
    Catch late = REDIS.proxy().next("attempt", Fate.LATE_REQUEST);
    var unused = late.caught().thenRun(REDIS.proxy()::refuse);
    CompletableFuture<Hold> given = client.lock("x", LONG).acquireAsync();
    Await.value(late.caught());
    assertThat(given.cancel(true)).isTrue();
    REDIS.proxy().mend();
    Await.until("it was withdrawn", () -> REDIS.proxy().count("end") > 0);
    return late;
  }

  private static String argument(Frame request, int index) {
    return request.word(3 + Integer.parseInt(request.word(2)) + index);
  }

  /** A renewal is repeated, and the hold goes on. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY", "TWICE", "SILENCE"})
  void keep_isRepeated(Fate fate) throws Exception {
    Holdfast client = REDIS.through();
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(8)).build();
    Catch caught = REDIS.proxy().next("keep_held", fate);
    Hold hold = client.lock("x", options).acquire();
    Await.value(caught.caught());
    assertGoesOn(hold);
  }

  private static void assertGoesOn(Hold hold) throws Exception {
    long before = REDIS.told(Renewed.class);
    Await.until("it is renewed", () -> REDIS.told(Renewed.class) > before);
    REDIS.assertHeldBy(hold);
    assertThat(hold.state()).isEqualTo(HoldState.HELD);
    assertThat(REDIS.told(Lost.class)).isZero();
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** So is the first one of a hold that was handed over, which goes the long way. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY", "TWICE"})
  void firstKeepAfterAHandOver_isRepeated(Fate fate) throws Exception {
    Hold first = REDIS.direct().lock("x", LONG).acquire();
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(8)).build();
    CompletableFuture<Hold> waiter = REDIS.through().lock("x", options).acquireAsync();
    REDIS.awaitWaiters(1);
    Catch caught = REDIS.proxy().next("keep", fate);
    assertThat(first.release()).isTrue();
    Hold hold = Await.value(waiter);
    Await.value(caught.caught());
    assertGoesOn(hold);
  }

  /** A renewal arrives after the release: it revives nothing, and the next holder's lease is its own. */
  @Test
  void keep_thatArrivesAfterTheRelease_revivesNothing() throws Exception {
    Holdfast client = REDIS.through();
    Catch late = REDIS.proxy().next("keep_held", Fate.LATE_REQUEST);
    LockOptions options = LockOptions.builder().leaseFor(Duration.ofSeconds(8)).build();
    Hold hold = client.lock("x", options).acquire();
    Await.value(late.caught());
    ProxiedRedis.release(hold);
    REDIS.awaitFree();
    Hold next = REDIS.direct().lock("x", LONG).acquire(PLENTY);
    long until = RedisRecord.of(REDIS.redis(), "x").until();
    late.letGo();
    assertThat(Await.value(late.answered()).revision()).isZero();
    REDIS.assertHeldBy(next);
    assertThat(RedisRecord.of(REDIS.redis(), "x").until()).isEqualTo(until);
    assertThat(next.release()).isTrue();
  }

  /** A release is repeated until it is confirmed; the next one gets the lock once, and keeps it. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY", "TWICE", "SILENCE"})
  void end_isRepeated_andTouchesNobodyElse(Fate fate) throws Exception {
    Holdfast client = REDIS.through();
    Hold hold = client.lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = REDIS.direct().lock("x", LONG).acquireAsync();
    REDIS.awaitWaiters(1);
    Catch caught = REDIS.proxy().next("end", fate);
    ProxiedRedis.release(hold);
    Await.value(caught.caught());
    Hold next = Await.value(waiter);
    assertThat(next.token()).isGreaterThan(hold.token());
    if (fate == Fate.TWICE) {
      assertThat(Await.value(caught.answered()).kind()).isEqualTo("N");
    }
    REDIS.assertHeldBy(next);
    assertThat(next.release()).isTrue();
    REDIS.assertNothingIsLeft(next);
  }

  /** A release arrives when the next one has the lock: that one keeps it. */
  @Test
  void end_thatArrivesLate_touchesNobodyElse() throws Exception {
    Holdfast client = REDIS.through();
    Hold hold = client.lock("x", LONG).acquire();
    Catch late = REDIS.proxy().next("end", Fate.LATE_REQUEST);
    ProxiedRedis.release(hold);
    REDIS.awaitFree();
    Hold next = REDIS.direct().lock("x", LONG).acquire(PLENTY);
    late.letGo();
    assertThat(Await.value(late.answered()).kind()).isEqualTo("N");
    REDIS.assertHeldBy(next);
    assertThat(next.release()).isTrue();
  }

  /** Who asks about a lock is told the truth, or that it is not known; never that there is nothing. */
  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY", "TWICE", "SILENCE"})
  void inspect_isTrueOrUnknown(Fate fate) throws Exception {
    // it is answered only if it arrives twice
    Holdfast client =
        REDIS.through(fate == Fate.TWICE ? ProxiedRedis.PATIENT : ProxiedRedis.TIMEOUT);
    Hold hold = REDIS.direct().lock("x", LONG).acquire();
    Catch caught = REDIS.proxy().next("inspect", fate);
    if (fate == Fate.TWICE) {
      assertThat(client.admin().inspect("x").map(LockInfo::token)).contains(hold.token());
    } else {
      assertThatThrownBy(() -> client.admin().inspect("x"))
          .isInstanceOf(StoreUnavailableException.class);
    }
    Await.value(caught.caught());
    Await.until("it is known again", () -> isKnown(client, hold.token()));
    REDIS.assertHeldBy(hold);
    assertThat(hold.release()).isTrue();
  }

  private static boolean isKnown(Holdfast client, long token) {
    try {
      assertThat(client.admin().inspect("x").map(LockInfo::token)).contains(token);
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  /** A forced release arrives when somebody else has the lock: it ends the grant that was seen, and no other. */
  @Test
  void evict_thatArrivesLate_touchesNobodyElse() throws Exception {
    Holdfast client = REDIS.through(ProxiedRedis.PATIENT);
    Holdfast holders = REDIS.direct();
    Hold hold = holders.lock("x", LONG).acquire();
    LockInfo seen = client.admin().inspect("x").orElseThrow();
    Catch late = REDIS.proxy().next("evict", Fate.LATE_REQUEST);
    assertThatThrownBy(() -> client.admin().forceRelease(seen))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(hold.release()).isTrue();
    Hold next = holders.lock("x", LONG).acquire();
    late.letGo();
    assertThat(Await.value(late.answered()).word(1)).isEqualTo("0");
    REDIS.assertHeldBy(next);
    assertThat(next.release()).isTrue();
  }
}
