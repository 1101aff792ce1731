// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Ticker;
import io.holdfast.spi.Claim;
import io.holdfast.spi.ClaimId;
import io.holdfast.spi.Kept;
import io.holdfast.testkit.contract.StoreContract;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Waiting claims hear when it is worth trying again, on real clocks. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = StoreContract.SHARED, mode = ResourceAccessMode.READ)
class SqliteWaitingTest {
  @TempDir
  private Path folder;

  private Client one;
  private Client two;

  @BeforeEach
  void open() {
    one = new Client(folder.resolve("locks.db")).connect();
    two = new Client(folder.resolve("locks.db")).connect();
  }

  @AfterEach
  void close() {
    one.close();
    two.close();
  }

  private static void hears(Client client, ClaimId claim) throws InterruptedException {
    assertThat(client.told.poll(20, TimeUnit.SECONDS)).isEqualTo(claim);
  }

  /** Not before the release, and soon after. */
  @Test
  void aRelease_isHeard() throws InterruptedException {
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.claim("a");
    two.busy(second);
    assertThat(two.told.poll(100, TimeUnit.MILLISECONDS)).isNull();

    one.end(first);

    hears(two, second.id());
    two.granted(second);
  }

  /** Nobody writes anything when a lease ends. */
  @Test
  void theEndOfALease_isHeard() throws InterruptedException {
    one.granted(one.claim("a", Duration.ofSeconds(6), false));
    Claim second = two.claim("a");
    two.busy(second);
    assertThat(two.told.poll(100, TimeUnit.MILLISECONDS)).isNull();
    hears(two, second.id());
    two.granted(second);
  }

  /** So does a kept lock, and an evicted one. */
  @Test
  void theEndOfAKeptLock_isHeard() throws InterruptedException {
    Claim first = one.claim("a");
    one.granted(first);
    one.end(first, Duration.ofSeconds(6));
    Claim second = two.claim("a");
    two.busy(second);
    hears(two, second.id());
    long revision = two.granted(second).revision();

    Claim third = one.claim("a");
    one.busy(third);
    Client.get(one.store.evict(third.name(), revision));
    hears(one, third.id());
  }

  /** Also by the process that lets go of it: its own change is not one by another connection. */
  @Test
  void theEvictionOfAKeptLock_isHeardWhereItWasAskedFor() throws InterruptedException {
    Claim first = one.claim("a");
    long revision = one.granted(first).revision();
    one.end(first, Duration.ofHours(1));
    Claim second = one.claim("a");
    one.busy(second);
    assertThat(one.told.poll(100, TimeUnit.MILLISECONDS)).isNull();

    assertThat(Client.get(one.store.evict(second.name(), revision))).isTrue();

    hears(one, second.id());
    one.granted(second);
  }

  /** A hundred idle waiters keep their words fresh with a few small transactions, not with hundreds. */
  @Test
  void manyIdleWaiters_writeLittle() throws Exception {
    List<Claim> held = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Claim claim = one.claim("n" + i);
      one.granted(claim);
      held.add(claim);
    }
    for (int i = 0; i < 100; i++) {
      two.busy(two.claim("n" + i));
    }
    assertThat(two.told.poll(1, TimeUnit.SECONDS)).isNull();
    try (Connection other =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
        Statement statement = other.createStatement()) {
      pagesInTheLog(statement, "TRUNCATE");
      assertThat(two.told.poll(2, TimeUnit.SECONDS)).isNull();
      // Each of them twice a second in a transaction of its own would be 400.
      assertThat(pagesInTheLog(statement, "PASSIVE")).isPositive().isLessThan(150);
    }
    // at once, but where this JVM stands still for longer than a word lasts
    Patience.until(() -> Client.get(one.store.keep(held)).values().stream()
        .allMatch(kept -> ((Kept.Held) kept).grant().othersWait()));
  }

  /** The engine asks again now and then: that neither hastens the looks nor changes the file. */
  @Test
  void askingAgain_isNoNews() throws Exception {
    one.granted(one.claim("a"));
    Claim second = two.claim("a");
    two.busy(second);
    assertThat(two.told.poll(500, TimeUnit.MILLISECONDS)).isNull();
    int before = two.timers.get();
    long begin = System.nanoTime();
    for (int i = 0; i < 500; i++) {
      two.busy(second);
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    assertThat(two.timers.get() - before).isLessThan((int) (20 + millis / 10));
  }

  /** Copies the log back into the file, and says how long it is then: TRUNCATE empties it, PASSIVE does not. */
  private static int pagesInTheLog(Statement statement, String mode) throws SQLException {
    try (ResultSet row = statement.executeQuery("PRAGMA wal_checkpoint(" + mode + ")")) {
      assertThat(row.next()).isTrue();
      assertThat(row.getInt(1)).as("busy").isZero();
      return row.getInt(2);
    }
  }

  /** Only the first in line hears of a free lock; the one behind it when that one is dead. */
  @Test
  void fairWaiters_hearInTurn() throws InterruptedException {
    Claim first = one.fair("a");
    one.granted(first);
    Claim second = one.fair("a");
    Claim third = two.fair("a");
    one.busy(second);
    two.busy(third);
    one.end(first);
    hears(one, second.id());
    assertThat(two.told.poll(200, TimeUnit.MILLISECONDS)).isNull();
    hears(two, third.id());
    two.granted(third);
  }

  /** Looking costs nothing while nobody waits, and ends when the last waiter has. */
  @Test
  void nobodyLooks_whenNobodyWaits() throws InterruptedException {
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.claim("a");
    two.busy(second);
    int before = two.timers.get();
    Patience.until(() -> two.timers.get() > before + 3);
    two.end(second);
    // One look may be on its way.
    assertThat(two.told.poll(100, TimeUnit.MILLISECONDS)).isNull();
    int after = two.timers.get();
    assertThat(two.told.poll(200, TimeUnit.MILLISECONDS)).isNull();
    assertThat(two.timers.get()).isEqualTo(after);
    assertThat(one.timers.get()).isLessThanOrEqualTo(1);
  }

  /** The word that somebody waits is kept fresh as long as he does, and no longer. */
  @Test
  void othersWait_isTrueAsLongAsSomebodyWaits() throws InterruptedException {
    two.close();
    // then a word lasts for eight seconds, and is refreshed after two to three
    two = new Client("sqlite:" + folder.resolve("locks.db") + "?holdfast.poll=1s", Ticker.system())
        .connect();
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.claim("a");
    two.busy(second);
    for (int i = 0; i < 10; i++) {
      assertThat(two.told.poll(1, TimeUnit.SECONDS)).isNull();
      assertThat(((Kept.Held) one.keep(first)).grant().othersWait()).isTrue();
    }
    two.end(second);
    Patience.until(() -> !((Kept.Held) one.keep(first)).grant().othersWait());
  }

  /** A claim that was told and lost the race is told again at the next chance. */
  @Test
  void whoLosesTheRace_hearsAgain() throws InterruptedException {
    Claim first = one.claim("a");
    one.granted(first);
    Claim second = two.claim("a");
    two.busy(second);
    one.end(first);
    hears(two, second.id());
    Claim third = one.claim("a");
    one.granted(third);
    two.busy(second);
    one.end(third);
    hears(two, second.id());
    two.granted(second);
  }
}
