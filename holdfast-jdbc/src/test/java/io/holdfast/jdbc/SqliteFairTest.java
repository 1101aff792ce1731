// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Answer;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Ended.Outcome;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Kept;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Mode;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The queue of fair claims, across clients, on clocks that stand still. */
class SqliteFairTest {
  private static final Duration WAITER_LEASE = Duration.ofSeconds(5);

  @TempDir
  private Path folder;

  private final ManualTicker ticker = new ManualTicker();
  private Client one;
  private Client two;
  private Client three;

  @BeforeEach
  void open() {
    one = new Client(folder.resolve("locks.db"), ticker).connect();
    two = new Client(folder.resolve("locks.db"), ticker).connect();
    three = new Client(folder.resolve("locks.db"), ticker).connect();
  }

  @AfterEach
  void close() {
    one.close();
    two.close();
    three.close();
  }

  /** Whoever asks first after a release, it goes to the one that came first; tokens grow along the queue. */
  @Test
  void waiters_areServedInTheOrderOfArrival() {
    Claim first = one.fair("a");
    Claim second = two.fair("a");
    Claim third = three.fair("a");
    Grant a = one.granted(first);
    assertThat(two.busy(second).queued()).isTrue();
    assertThat(three.busy(third).queued()).isTrue();
    assertThat(Client.get(one.store.inspect(LockKey.of("a")))
            .orElseThrow()
            .waiters()
            .known())
        .isEqualTo(2);
    one.end(first);

    assertThat(three.busy(third).queued()).isTrue();
    Claim fourth = one.fair("a");
    assertThat(one.busy(fourth).queued()).isTrue();
    Grant b = two.granted(second);
    two.end(second);
    assertThat(one.busy(fourth).queued()).isTrue();
    Grant c = three.granted(third);
    three.end(third);
    Grant d = one.granted(fourth);

    assertThat(b.revision()).isGreaterThan(a.revision());
    assertThat(c.revision()).isGreaterThan(b.revision());
    assertThat(d.revision()).isGreaterThan(c.revision());
    assertThat(Client.get(one.store.inspect(LockKey.of("a")))
            .orElseThrow()
            .waiters()
            .known())
        .isZero();
  }

  /** A free lock is free for a try, fair or not, and for who did not ask for fairness; who waits keeps his place. */
  @Test
  void aFreeLockWithWaiters_isForTheFirstOne_orForWhoDoesNotQueue() {
    Claim first = one.fair("a");
    one.granted(first);
    Claim second = two.fair("a");
    two.busy(second);
    one.end(first);

    Claim tries = three.fair("a");
    assertThat(three.attempt(tries, Mode.TRY)).isInstanceOf(Answer.Granted.class);
    assertThat(two.busy(second).queued()).isTrue();
    three.end(tries);
    Claim plain = three.claim("a");
    three.granted(plain);
    assertThat(two.busy(second).queued()).isTrue();
    three.end(plain);
    two.granted(second);
  }

  /** The first one's process died: the next is served when its place has lapsed. */
  @Test
  void aDeadWaiter_isSkippedAfterItsLease() {
    Claim first = one.fair("a");
    one.granted(first);
    Claim dead = two.fair("a");
    Claim third = three.fair("a");
    two.busy(dead);
    ticker.advance(Duration.ofSeconds(3));
    three.busy(third);
    one.end(first);
    three.busy(third);
    ticker.advance(Duration.ofSeconds(2));

    assertThat(two.keep(dead)).isInstanceOf(Kept.Gone.class);
    three.granted(third);
  }

  /** Waiting is kept alive by keep, and only what is alive. */
  @Test
  void keep_refreshesWaiters_andNeverRevives() {
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.fair("a");
    two.busy(second);
    for (int i = 0; i < 3; i++) {
      ticker.advance(WAITER_LEASE.minusMillis(1));
      assertThat(two.keep(second)).isInstanceOf(Kept.Queued.class);
    }
    ticker.advance(WAITER_LEASE);
    assertThat(two.keep(second)).isInstanceOf(Kept.Gone.class);
  }

  /** Who let its place lapse and comes back stands at the end. */
  @Test
  void aLapsedPlace_isLost() {
    Claim first = one.claim("a", Duration.ofMinutes(5), false);
    one.granted(first);
    Claim lapsed = two.fair("a");
    two.busy(lapsed);
    ticker.advance(WAITER_LEASE);
    Claim third = three.fair("a");
    three.busy(third);
    two.busy(lapsed);
    one.end(first);

    two.busy(lapsed);
    three.granted(third);
  }

  /** A withdrawn waiter blocks nobody. */
  @Test
  void end_withdrawsAWaiter() {
    Claim first = one.fair("a");
    one.granted(first);
    Claim second = two.fair("a");
    Claim third = three.fair("a");
    two.busy(second);
    three.busy(third);
    assertThat(two.end(second).outcome()).isEqualTo(Outcome.WITHDRAWN);
    assertThat(two.end(second).outcome()).isEqualTo(Outcome.NOT_THERE);
    one.end(first);
    three.granted(third);
  }

  /** The answer to the grant was lost: asked again, it is the same, although others wait by now. */
  @Test
  void askingAgainWithTheSameClaim_givesTheSameGrant() {
    Claim first = one.fair("a");
    Grant grant = one.granted(first);
    two.busy(two.fair("a"));

    assertThat(one.granted(first).revision()).isEqualTo(grant.revision());
  }

  /** Fair claims of one client queue among each other too. */
  @Test
  void claimsOfOneClient_queueInOrder() {
    Claim first = one.fair("a");
    Claim second = one.fair("a");
    Claim third = one.fair("a");
    one.granted(first);
    one.busy(second);
    one.busy(third);
    one.end(first);
    one.busy(third);
    one.granted(second);
    one.end(second);
    one.granted(third);
  }
}
