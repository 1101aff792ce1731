// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockInfo;
import io.holdfast.Ticker;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.Mode;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The verbs on one file, two clients, and clocks that stand still. */
class SqliteVerbsTest {
  @TempDir
  private Path folder;

  private final ManualTicker ticker = new ManualTicker();
  private Client one;
  private Client two;

  @BeforeEach
  void open() {
    one = new Client(folder.resolve("locks.db"), ticker).connect();
    two = new Client(folder.resolve("locks.db"), ticker).connect();
  }

  @AfterEach
  void close() {
    one.close();
    two.close();
  }

  /** The other client is told who has it and for how long, and gets it after the release, with a greater revision. */
  @Test
  void aHeldLock_isBusyForOthersUntilItIsReleased() {
    Claim first = one.claim("a");
    Claim second = two.claim("a");
    Grant grant = one.granted(first);
    ticker.advance(Duration.ofSeconds(10));

    Answer.Busy busy = two.busy(second);

    assertThat(busy.queued()).isFalse();
    assertThat(busy.holder()).contains(first.holder());
    assertThat(busy.leaseLeft()).contains(Duration.ofSeconds(20));
    assertThat(one.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(two.granted(second).revision()).isGreaterThan(grant.revision());
  }

  /** The row was read as taken; which file its client has is read from the row as it is then. */
  @Test
  void releasedBetweenTwoReads_isGranted() {
    Claim first = one.claim("a");
    one.granted(first);
    AtomicBoolean released = new AtomicBoolean();
    Ticker releasing = new Ticker() {
      @Override
      public long nanos() {
        boolean between = StackWalker.getInstance()
            .walk(frames ->
                frames.anyMatch(frame -> frame.getClassName().equals(SqliteLiveness.class.getName())
                    && frame.getMethodName().equals("freeIfDead")));
        if (between && released.compareAndSet(false, true)) {
          one.end(first);
        }
        return ticker.nanos();
      }

      @Override
      public long wallMillis() {
        return ticker.wallMillis();
      }
    };
    try (Client third = new Client(folder.resolve("locks.db"), releasing).connect()) {
      assertThat(third.attempt(third.claim("a"), Mode.TRY)).isInstanceOf(Answer.Granted.class);
    }
    assertThat(released).isTrue();
  }

  /** A revision is the store's time in microseconds, or one more than the one before. */
  @Test
  void revisions_grow_onAClockThatStandsStillOrGoesBack() {
    long latest = 0;
    for (int i = 0; i < 20; i++) {
      Client client = i % 3 == 0 ? two : one;
      Claim claim = client.claim("a");
      Grant grant = client.granted(claim);
      assertThat(grant.revision()).isGreaterThan(latest);
      latest = grant.revision();
      client.end(claim);
      if (i == 10) {
        ticker.stepWall(Duration.ofHours(-1));
      }
    }
    ticker.stepWall(Duration.ofHours(2));
    assertThat(one.granted(one.claim("a")).revision()).isEqualTo(ticker.wallMillis() * 1000);
  }

  /** The answer was lost, so it is asked again: the same grant, and its lease counts from now. */
  @Test
  void askingAgainWithTheSameClaim_givesTheSameGrant() {
    Claim claim = one.claim("a");
    Grant grant = one.granted(claim);
    ticker.advance(Duration.ofSeconds(20));

    Grant again = one.granted(claim);

    assertThat(again.revision()).isEqualTo(grant.revision());
    assertThat(again.anchor()).isEqualTo(ticker.now());
    assertThat(two.busy(two.claim("a")).leaseLeft()).contains(Client.LEASE);
  }

  /** At its end, not before, and then the old claim has nothing any more. */
  @Test
  void aLease_endsByItself() {
    Claim first = one.claim("a");
    Grant grant = one.granted(first);
    ticker.advance(Client.LEASE.minusMillis(1));
    two.busy(two.claim("a"));
    ticker.advance(Duration.ofMillis(1));

    assertThat(one.keep(first)).isInstanceOf(Kept.Gone.class);
    Claim second = two.claim("a");
    assertThat(two.granted(second).revision()).isGreaterThan(grant.revision());
    assertThat(one.keep(first)).isInstanceOf(Kept.Gone.class);
    assertThat(one.end(first).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(two.keep(second)).isInstanceOf(Kept.Held.class);
  }

  @Test
  void keep_extendsToTheFullLeaseFromNow() {
    Claim claim = one.claim("a");
    Grant grant = one.granted(claim);
    ticker.advance(Duration.ofSeconds(29));

    Kept.Held held = (Kept.Held) one.keep(claim);

    assertThat(held.grant().revision()).isEqualTo(grant.revision());
    assertThat(held.grant().anchor()).isEqualTo(ticker.now());
    assertThat(two.busy(two.claim("a")).leaseLeft()).contains(Client.LEASE);
  }

  /** Many claims go in several transactions; each gets its own answer. */
  @Test
  void keep_answersEachOfMany() {
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < 450; i++) {
      Claim claim = one.claim("many-" + i);
      claims.add(claim);
      if (i % 2 == 0) {
        one.granted(claim);
      }
    }

    var kept = Client.get(one.store.keep(claims));

    for (int i = 0; i < 450; i++) {
      assertThat(kept.get(claims.get(i).id()))
          .isInstanceOf(i % 2 == 0 ? Kept.Held.class : Kept.Gone.class);
    }
  }

  /** A release with somebody else's claim, of the same client or not, changes nothing. */
  @Test
  void end_touchesItsOwnClaimOnly() {
    Claim first = one.claim("a");
    one.granted(first);

    assertThat(one.end(one.claim("a")).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(two.end(two.claim("a"), Duration.ofHours(1)).outcome()).isEqualTo(Outcome.NOT_THERE);
    assertThat(one.keep(first)).isInstanceOf(Kept.Held.class);
    assertThat(one.end(first).outcome()).isEqualTo(Outcome.RELEASED);
    assertThat(one.end(first).outcome()).isEqualTo(Outcome.NOT_THERE);
  }

  /** An attempt that comes too late leaves no trace, so that the end before it was the end. */
  @Test
  void anAttemptPastGiveUpAt_isNotApplied() {
    Claim claim = one.claim("a");
    Instant giveUpAt = one.store.time().plusSeconds(1);
    assertThat(Client.get(one.store.end(claim, Duration.ZERO, giveUpAt)).isFinal())
        .isFalse();
    ticker.advance(Duration.ofMillis(1001));
    Ended ended = Client.get(one.store.end(claim, Duration.ZERO, giveUpAt));
    assertThat(ended.isFinal()).isTrue();

    Answer answer = Client.get(one.store.attempt(claim, Mode.QUEUE, giveUpAt));

    assertThat(answer).isInstanceOf(Answer.Late.class);
    assertThat(Client.get(one.store.inspect(claim.name()))).isEmpty();
    assertThat(Client.get(one.store.attempt(one.fair("a"), Mode.QUEUE, giveUpAt)))
        .isInstanceOf(Answer.Late.class);
    assertThat(Client.get(one.store.own())).isEmpty();
  }

  @Test
  void aKeptLock_staysTakenWithoutAHolderUntilItsTime() {
    Claim first = one.claim("a");
    one.granted(first);
    ticker.advance(Duration.ofSeconds(5));
    assertThat(one.end(first, Duration.ofMinutes(1)).outcome()).isEqualTo(Outcome.RELEASED);

    Answer.Busy busy = two.busy(two.claim("a"));
    assertThat(busy.holder()).isEmpty();
    assertThat(busy.leaseLeft()).contains(Duration.ofSeconds(55));
    LockInfo info = Client.get(two.store.inspect(LockKey.of("a"))).orElseThrow();
    assertThat(info.holder()).isEmpty();
    assertThat(info.keptUntil()).contains(two.store.time().plusSeconds(55));
    assertThat(one.keep(first)).isInstanceOf(Kept.Gone.class);
    ticker.advance(Duration.ofSeconds(55));
    two.granted(two.claim("a"));
  }

  /** The work took longer than the lock should be kept: it is free at once. */
  @Test
  void aKeptLock_isFreeIfItsTimeIsOver() {
    Claim first = one.claim("a");
    one.granted(first);
    ticker.advance(Duration.ofSeconds(5));
    one.end(first, Duration.ofSeconds(5));
    two.granted(two.claim("a"));
  }

  /** Only what was seen is evicted. */
  @Test
  void evict_isConditionalOnTheRevision() {
    Claim first = one.claim("a");
    Grant grant = one.granted(first);
    LockKey name = first.name();

    assertThat(Client.get(two.store.evict(name, grant.revision() - 1))).isFalse();
    assertThat(Client.get(two.store.evict(name, grant.revision()))).isTrue();
    assertThat(Client.get(two.store.evict(name, grant.revision()))).isFalse();
    assertThat(one.keep(first)).isInstanceOf(Kept.Gone.class);
    assertThat(two.granted(two.claim("a")).revision()).isGreaterThan(grant.revision());
  }

  /** Another client that waits is told of, in every answer; one that only tried is not. */
  @Test
  void othersWait_isTold_whileAnotherClientWaits() {
    Claim first = one.claim("a");
    assertThat(one.granted(first).othersWait()).isFalse();
    two.attempt(two.claim("a"), Mode.TRY);
    assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isFalse();

    two.busy(two.claim("a"));

    assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isTrue();
    assertThat(one.granted(first).othersWait()).isTrue();
    assertThat(one.end(first).othersWait()).isTrue();
    assertThat(one.granted(one.claim("a")).othersWait()).isTrue();
  }

  /** A wait of the holder's own client is its own affair, and a word that was left long ago means nothing. */
  @Test
  void othersWait_isNotTold_ofOwnClaimsOrOldWords() {
    Claim first = one.claim("a");
    one.granted(first);
    one.busy(one.claim("a"));
    assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isFalse();

    two.busy(two.claim("a"));
    // its looks are on a real clock, and would leave the word anew
    two.close();
    ticker.advance(Duration.ofSeconds(1));
    assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isFalse();
    assertThat(one.end(first).othersWait()).isFalse();
  }

  /** Who no longer waits takes its word back, when the last of its claims has. */
  @Test
  void othersWait_isNotTold_ofWhoHasLeft() {
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.claim("a");
    Claim third = two.fair("a");
    two.busy(second);
    two.busy(third);
    two.end(second);
    assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isTrue();
    assertThat(two.end(third).outcome()).isEqualTo(Outcome.WITHDRAWN);
    assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isFalse();
  }

  /** Who waited and got it does not tell itself of its own wait. */
  @Test
  void othersWait_isNotTold_toTheOneThatWaited() {
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.claim("a");
    two.busy(second);
    one.end(first);

    assertThat(two.granted(second).othersWait()).isFalse();
    assertThat(two.end(second).othersWait()).isFalse();
    assertThat(one.granted(one.claim("a")).othersWait()).isFalse();
  }

  /** Two names are one lock only if their bytes are equal. */
  @Test
  void names_areComparedByTheirBytes() {
    List<String> names = List.of(
        "a",
        "A",
        "a ",
        " a",
        "a%",
        "a_",
        "a'; DROP TABLE holdfast_lock; --",
        "\u00e9",
        "e\u0301",
        "\u00df",
        "ss",
        "\ud83d\ude00",
        "\uff41",
        "1",
        "01",
        "1.0",
        "0x1",
        "NULL",
        "x".repeat(512),
        "x".repeat(511));
    for (String name : names) {
      one.granted(one.claim(name));
    }
    for (String name : names) {
      two.busy(two.claim(name));
    }
    LockPage page = Client.get(one.store.list("", Optional.empty()));
    List<String> sorted = new ArrayList<>(names);
    sorted.sort(
        (x, y) -> Arrays.compareUnsigned(LockKey.of(x).bytes(), LockKey.of(y).bytes()));
    assertThat(page.locks()).extracting(LockInfo::name).containsExactlyElementsOf(sorted);
    assertThat(page.next()).isEmpty();
  }

  /** In pages, by prefix, and neither free locks nor others. */
  @Test
  void list_givesTakenAndAwaitedLocks() {
    for (int i = 0; i < 450; i++) {
      one.granted(one.claim(String.format("job:%03d", i)));
    }
    one.granted(one.claim("job;"));
    one.granted(one.claim("jo"));
    Claim free = one.claim("job:free");
    one.granted(free);
    one.end(free);

    List<String> found = new ArrayList<>();
    Optional<String> page = Optional.empty();
    int pages = 0;
    do {
      LockPage part = Client.get(two.store.list("job:", page));
      part.locks().forEach(info -> found.add(info.name()));
      page = part.next();
      pages++;
    } while (page.isPresent());

    assertThat(found).hasSize(450).isSorted().doesNotContain("job:free", "job;", "jo");
    assertThat(pages).isEqualTo(3);
  }

  @Test
  void inspect_tellsHolderStartLeaseAndToken() {
    Claim claim = one.claim("a");
    Instant since = one.store.time();
    Grant grant = one.granted(claim);
    ticker.advance(Duration.ofSeconds(12));
    one.keep(claim);
    ticker.advance(Duration.ofSeconds(3));

    LockInfo info = Client.get(two.store.inspect(claim.name())).orElseThrow();

    assertThat(info.holder()).contains(claim.holder());
    assertThat(info.since()).contains(since);
    assertThat(info.leaseLeft()).isEqualTo(Duration.ofSeconds(27));
    assertThat(info.token()).isEqualTo(grant.revision() << 8);
    assertThat(info.waiters().known()).isZero();
    one.end(claim);
    assertThat(Client.get(two.store.inspect(claim.name()))).isEmpty();
  }

  /** Held and queued ones, of this client alone. */
  @Test
  void own_listsThisClientsClaims() {
    Claim held = one.claim("a");
    Claim queued = one.fair("b");
    two.granted(two.claim("b"));
    one.granted(held);
    one.busy(queued);

    assertThat(Client.get(one.store.own()))
        .containsOnlyKeys(held.id(), queued.id())
        .containsEntry(queued.id(), LockKey.of("b"));
  }
}
