// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.HoldState;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent.Acquired;
import io.holdfast.LockEvent.Lost;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.contract.Rounds;
import io.holdfast.testkit.log.MayWarn;
import io.holdfast.testkit.log.Warns;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The message that tells a waiter of its grant: missed, late, doubled. And a network that parts client and server. */
@Tag("stores")
class MessageFatesTest {
  private static final LockOptions LONG = ProxiedRedis.LONG;

  @RegisterExtension
  static final ProxiedRedis REDIS = new ProxiedRedis();

  private static CompletableFuture<Hold> waiter(Holdfast client, int asNumber) {
    CompletableFuture<Hold> waiter = client.lock("x", LONG).acquireAsync();
    REDIS.awaitWaiters(asNumber);
    return waiter;
  }

  /** The message does not come: the waiter finds its grant by itself, and in time to keep it. */
  @Test
  void message_missed_isFoundByTheNextLook() throws Exception {
    Holdfast client = REDIS.through();
    Hold first = REDIS.direct().lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = waiter(client, 1);
    Catch missed = REDIS.proxy().next("message", Fate.MISS);
    assertThat(first.release()).isTrue();
    Hold hold = Await.value(waiter);
    assertThat(missed.caught()).isDone();
    // not lapsed and asked for anew: it is the grant that the release made
    assertThat(Await.value(missed.caught()).word(2)).contains(" " + (hold.token() >> 8) + " ");
    REDIS.assertHeldBy(hold);
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** It comes when the hold that it speaks of is long over: no hold comes of it, and nobody else's is touched. */
  @ParameterizedTest
  @EnumSource(names = {"HOLD_REPLY", "TWICE"})
  void message_lateOrTwice_isNoSecondHold(Fate fate) throws Exception {
    Holdfast client = REDIS.through();
    Hold first = REDIS.direct().lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = waiter(client, 1);
    Catch caught = REDIS.proxy().next("message", fate);
    assertThat(first.release()).isTrue();
    ProxiedRedis.release(Await.value(waiter));
    REDIS.awaitFree();
    Hold next = REDIS.direct().lock("x", LONG).tryAcquire().orElseThrow();
    caught.letGo();
    CompletableFuture<Hold> last = waiter(client, 1);
    REDIS.assertHeldBy(next);
    assertThat(next.release()).isTrue();
    // its message comes behind the other one, on the same connection
    Hold hold = Await.value(last);
    assertThat(hold.token()).isGreaterThan(next.token());
    Await.until("both holds are told", () -> REDIS.told(Acquired.class) >= 2);
    assertThat(REDIS.told(Acquired.class)).isEqualTo(2);
    ProxiedRedis.release(hold);
    REDIS.assertNothingIsLeft(hold);
  }

  /** It is under way when its waiter gives up: the lock goes on to the next one, whose hold the late message leaves alone. */
  @Test
  void message_forOneWhoGaveUp_passesTheLockOn() throws Exception {
    Holdfast client = REDIS.through();
    Hold first = REDIS.direct().lock("x", LONG).acquire();
    CompletableFuture<Hold> gaveUp = waiter(client, 1);
    CompletableFuture<Hold> next = waiter(REDIS.direct(), 2);
    Catch late = REDIS.proxy().next("message", Fate.HOLD_REPLY);
    assertThat(first.release()).isTrue();
    Await.value(late.caught());
    assertThat(gaveUp.cancel(true)).isTrue();
    Hold hold = Await.value(next);
    late.letGo();
    CompletableFuture<Hold> again = waiter(client, 1);
    REDIS.assertHeldBy(hold);
    assertThat(hold.release()).isTrue();
    ProxiedRedis.release(Await.value(again));
    Await.until("its hold is told", () -> REDIS.told(Acquired.class) > 0);
    assertThat(REDIS.told(Acquired.class)).isEqualTo(1);
  }

  /**
   * It comes when the short lease that it tells of is over, and another one has the lock: the waiter does not believe it.
   * Nothing else got through meanwhile either.
   */
  @Test
  void message_afterItsLease_isNotBelieved() throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofSeconds(4)).build();
    // no connection is given up because nothing passes
    Holdfast client = REDIS.through(Duration.ofSeconds(10));
    Hold first = REDIS.direct().lock("x", LONG).acquire();
    CompletableFuture<Hold> waiter = client.lock("x", brief).acquireAsync();
    REDIS.awaitWaiters(1);
    CompletableFuture<Hold> next = waiter(REDIS.direct(), 2);
    Catch late = REDIS.proxy().next("message", Fate.HOLD_REPLY);
    REDIS.proxy().stall(true, true);
    assertThat(first.release()).isTrue();
    Hold hold = Await.value(next);
    REDIS.proxy().mend();
    Await.until("it stands in line again", () -> REDIS.redis().zcard("holdfast:{x}:q") == 1);
    int looks = REDIS.proxy().count("keep");
    Await.until("it knows that it does", () -> REDIS.proxy().count("keep") > looks + 1);
    late.letGo();
    assertThat(hold.release()).isTrue();
    Hold last = Await.value(waiter);
    // the message of this grant came behind the late one
    assertThat(last.token()).isGreaterThan(hold.token());
    REDIS.assertHeldBy(last);
    ProxiedRedis.release(last);
  }

  /** The reply to an attempt comes when the lease is over: no hold without a lease is handed out. */
  @Test
  @MayWarn("lock=x .*hold lost")
  void reply_afterTheLease_isNoHold() throws Exception {
    // no connection is given up because nothing passes
    Holdfast client = REDIS.through(Duration.ofSeconds(10));
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofMillis(500)).build();
    // the same lease in each round: what the client asks again may keep a longer one from ending
    Rounds.untilShown(brief, longer -> replyAfterTheLeaseIsNoHold(client, brief));
  }

  /** Returns false if the hold that comes in the end was over, on a machine that stands still, before it was looked at. */
  private static boolean replyAfterTheLeaseIsNoHold(Holdfast client, LockOptions brief)
      throws Exception {
    Catch late = REDIS.proxy().next("attempt", Fate.HOLD_REPLY);
    CompletableFuture<Hold> asked = client.lock("x", brief).acquireAsync();
    Await.value(late.answered());
    long first = REDIS.revision();
    Hold rival = REDIS.direct().lock("x", LONG).acquire();
    assertThat(rival.token() >> 8).isGreaterThan(first);
    late.letGo();
    REDIS.awaitWaiters(1);
    assertThat(asked).isNotDone();
    REDIS.assertHeldBy(rival);
    assertThat(rival.release()).isTrue();
    Hold hold = Await.value(asked);
    RedisRecord record = RedisRecord.of(REDIS.redis(), "x");
    boolean lasted = hold.isValid();
    hold.close();
    REDIS.awaitFree();
    if (lasted) {
      assertThat(record.claim()).isNotEmpty();
      assertThat(record.revision()).isEqualTo(hold.token() >> 8);
    }
    return lasted;
  }

  /** How client and server are parted. */
  enum Parted {
    CONNECTIONS_BREAK,
    NOTHING_PASSES,
    NO_REQUEST_PASSES,
    NO_REPLY_PASSES
  }

  /** The holder is parted from the server: it is told in time, before anybody else can have the lock. */
  @ParameterizedTest
  @EnumSource
  @Warns("lock=x .*hold lost")
  void parted_theHoldIsLost_beforeAnybodyElseHasTheLock(Parted how) throws Exception {
    LockOptions brief = LockOptions.builder().leaseFor(Duration.ofMillis(3600)).build();
    Holdfast client = REDIS.through();
    Holdfast other = REDIS.direct();
    Hold hold = client.lock("x", brief).acquire();
    CompletableFuture<Hold> rival = waiter(other, 1);
    switch (how) {
      case CONNECTIONS_BREAK -> REDIS.proxy().cut();
      case NOTHING_PASSES -> REDIS.proxy().stall(true, true);
      case NO_REQUEST_PASSES -> REDIS.proxy().stall(true, false);
      case NO_REPLY_PASSES -> REDIS.proxy().stall(false, true);
    }
    Hold next = Await.value(rival);
    assertThat(hold.isValid()).isFalse();
    assertThat(next.token()).isGreaterThan(hold.token());
    Await.until("the loss is told", () -> hold.state() == HoldState.LOST);
    REDIS.proxy().mend();
    // what has waited in the network touches nobody
    CompletableFuture<Hold> again = waiter(client, 1);
    REDIS.assertHeldBy(next);
    assertThat(next.release()).isTrue();
    ProxiedRedis.release(Await.value(again));
    Await.until("the loss is told to listeners", () -> REDIS.told(Lost.class) > 0);
    assertThat(REDIS.told(Lost.class)).isEqualTo(1);
  }
}
