// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holder;
import io.holdfast.LockInfo;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks that are renewed together have nothing else to do with each other. */
@Tag("stores")
class RenewalsTest {
  private final RedisServer server = RedisServer.forgetful();
  private final RecordingStart start = new RecordingStart();
  private final RedisStore store = RedisStore.at(StoreAddress.parse(server.uri()));

  @BeforeEach
  void connect() {
    store.start(start.runtime(), start);
    Await.value(store.connect());
  }

  @AfterEach
  void close() {
    store.close();
    server.close();
  }

  private Claim claim(String name, int number) {
    return claim(name, number, Duration.ofMinutes(1));
  }

  private Claim claim(String name, int number, Duration lease) {
    return new Claim(
        new ClaimId(start.runtime().client(), number),
        LockKey.of(name),
        1,
        1,
        lease,
        false,
        new Holder("tester", "host", 1, "main", ""));
  }

  private Claim held(String name, int number) {
    Claim claim = claim(name, number);
    assertThat(ask(claim, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    return claim;
  }

  private Answer ask(Claim claim, Mode mode) {
    return Await.value(store.attempt(claim, mode, store.time().plusSeconds(5)));
  }

  /** Each of them is answered for what it is, whatever became of the others. */
  @Test
  void eachIsAnsweredForItself() {
    Claim quiet = held("quiet", 1);
    Claim wanted = held("wanted", 2);
    Claim deleted = held("deleted", 3);
    Claim damaged = held("damaged", 4);
    Claim newer = held("newer", 5);
    Claim waits = claim("wanted", 6);
    assertThat(ask(waits, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    server.call(redis -> {
      redis.del("holdfast:{deleted}", "holdfast:{damaged}", "holdfast:{newer}");
      redis.set("holdfast:{damaged}", "somebody else's");
      return redis.hset("holdfast:{newer}", "l", "a form of next year's");
    });
    List<Claim> all = List.of(damaged, quiet, newer, wanted, deleted, waits);
    Map<ClaimId, Kept> kept = Await.value(store.keep(all));
    assertThat(kept).hasSize(6);
    assertThat(othersWait(kept.get(quiet.id()))).isFalse();
    assertThat(othersWait(kept.get(wanted.id()))).isTrue();
    assertThat(kept.get(waits.id())).isEqualTo(new Kept.Queued());
    assertThat(kept.get(deleted.id())).isEqualTo(new Kept.Gone());
    assertThat(kept.get(damaged.id())).isEqualTo(new Kept.Unknown());
    assertThat(kept.get(newer.id())).isEqualTo(new Kept.Unknown());
  }

  /** Also those that wait, and those whose queues are somebody else's. */
  @Test
  void eachThatWaitsIsAnsweredForItself() {
    Claim[] waiting = new Claim[3];
    for (int i = 0; i < waiting.length; i++) {
      held("wanted-" + i, 10 + i);
      waiting[i] = claim("wanted-" + i, 20 + i);
      assertThat(ask(waiting[i], Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    }
    server.call(redis -> {
      redis.hset("holdfast:{wanted-1}:w", waiting[1].id().toString(), "an entry of next year's");
      redis.del("holdfast:{wanted-0}:w");
      return redis.set("holdfast:{wanted-0}:w", "somebody else's");
    });
    Map<ClaimId, Kept> kept = Await.value(store.keep(List.of(waiting)));
    assertThat(kept.get(waiting[0].id())).isEqualTo(new Kept.Unknown());
    assertThat(kept.get(waiting[1].id())).isEqualTo(new Kept.Unknown());
    assertThat(kept.get(waiting[2].id())).isEqualTo(new Kept.Queued());
  }

  /** What has ended in the store stays so, though no other claim has come since. */
  @Test
  void leaseThatIsOver_isNotRenewed() {
    Claim brief = claim("over", 1, Duration.ofMillis(100));
    assertThat(ask(brief, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    Await.until(
        "its lease is over",
        () -> Await.value(store.inspect(brief.name())).filter(LockInfo::isTaken).isEmpty());
    assertThat(Await.value(store.keep(List.of(brief)))).containsEntry(brief.id(), new Kept.Gone());
  }

  /** Else the next release would hand the lock over to a claim that had it already. */
  @Test
  void waiterThatIsGrantedByItsRenewal_leavesTheQueue() {
    held("lost", 1);
    Claim waits = claim("lost", 2);
    assertThat(ask(waits, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    // the holder's record is gone, as after a restart that has kept the queue
    server.call(redis -> redis.del("holdfast:{lost}"));
    assertThat(Await.value(store.keep(List.of(waits))).get(waits.id()))
        .isInstanceOf(Kept.Held.class);
    long waiting =
        server.call(redis -> redis.zcard("holdfast:{lost}:q") + redis.hlen("holdfast:{lost}:w"));
    assertThat(waiting).isZero();
  }

  /** A claim that cannot wait for that leaves no queue behind, which would stay for ever. */
  @Test
  void waitersOfAnotherType_noneIsPutInTheQueue() {
    held("wanted", 1);
    server.call(redis -> redis.set("holdfast:{wanted}:w", "another program's"));
    assertThat(Await.failure(
            store.attempt(claim("wanted", 2), Mode.QUEUE, store.time().plusSeconds(5))))
        .hasMessageContaining("WRONGTYPE");
    long queues = server.call(redis -> redis.exists("holdfast:{wanted}:q"));
    assertThat(queues).isZero();
  }

  /** The record says no longer that others wait when the last of them has left. */
  @Test
  void lastWaiterThatLeaves_isNotSaidToWait() {
    Claim holds = held("x", 1);
    Claim waits = claim("x", 2);
    assertThat(ask(waits, Mode.QUEUE)).isInstanceOf(Answer.Busy.class);
    assertThat(othersWait(Await.value(store.keep(List.of(holds))).get(holds.id())))
        .isTrue();
    Await.value(store.end(waits, Duration.ZERO, store.time()));
    assertThat(othersWait(Await.value(store.keep(List.of(holds))).get(holds.id())))
        .isFalse();
  }

  private static boolean othersWait(@Nullable Kept kept) {
    assertThat(kept).isInstanceOf(Kept.Held.class);
    return kept instanceof Kept.Held held && held.grant().othersWait();
  }

  /** More of them than one script takes: none is left out, or taken for another one. */
  @Test
  void manyAreKept_inSeveralScripts() {
    List<Claim> claims = IntStream.rangeClosed(1, 250)
        .mapToObj(number -> held("many-" + number, number))
        .toList();
    Claim ended = claims.get(120);
    Await.value(store.end(ended, Duration.ZERO, store.time()));
    Map<ClaimId, Kept> kept = Await.value(store.keep(claims));
    assertThat(kept).hasSize(250);
    for (Claim claim : claims) {
      Kept found = kept.get(claim.id());
      if (claim.equals(ended)) {
        assertThat(found).isEqualTo(new Kept.Gone());
      } else {
        assertThat(found).isInstanceOfSatisfying(Kept.Held.class, held -> {
          RedisRecord record =
              server.call(redis -> RedisRecord.of(redis, claim.name().name()));
          assertThat(held.grant().revision()).isEqualTo(record.revision());
        });
      }
    }
  }
}
