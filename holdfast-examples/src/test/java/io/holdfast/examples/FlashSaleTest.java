// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.ManualClock;
import io.holdfast.testkit.log.Warns;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What buyers are told; and what happens to a shop that does it in another way. */
class FlashSaleTest {
  private static final long ITEM = 1;
  private static final String BUYER = "anna";
  private static final Instant BEGIN = Instant.parse("2030-11-11T20:00:00Z");
  private static final FlashSale.Sale SALE =
      new FlashSale.Sale(ITEM, BEGIN, BEGIN.plus(Duration.ofHours(1)));
  private static final LockOptions OPTIONS = LockOptions.builder().build();

  private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
  private final SaleTables tables = new SaleTables(() -> DriverManager.getConnection(url));
  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase database = new MemoryDatabase(clock);
  private final Holdfast here = client();
  private final Holdfast there = client();

  private Holdfast client() {
    return Holdfast.builder()
        .store(new MemoryStore(database))
        .ticker(clock)
        .scheduler(clock)
        .build();
  }

  @BeforeEach
  void openTheShop() throws SQLException {
    tables.create(ITEM, 2);
    tables.addAccount(BUYER);
    tables.addAccount("bert");
    tables.addAccount("cleo");
  }

  @AfterEach
  void close() throws SQLException {
    here.close();
    there.close();
    try (Connection connection = tables.connect()) {
      connection.createStatement().execute("shutdown");
    }
  }

  private FlashSale.Answer at(Instant time, String buyer) throws SQLException {
    return new FlashSale(here, OPTIONS, tables, stoppedAt(time), SALE).order(buyer);
  }

  private static Ticker stoppedAt(Instant time) {
    return new Ticker() {
      @Override
      public long nanos() {
        return 0;
      }

      @Override
      public long wallMillis() {
        return time.toEpochMilli();
      }
    };
  }

  private int orders(String buyer) throws SQLException {
    int orders = 0;
    try (Connection connection = tables.connect();
        var rows = connection.createStatement().executeQuery("select buyer from orders")) {
      while (rows.next()) {
        orders += rows.getString(1).equals(buyer) ? 1 : 0;
      }
    }
    return orders;
  }

  @Test
  void order_saysWhatHasBecomeOfIt() throws SQLException {
    assertThat(at(BEGIN.minusMillis(1), BUYER)).isEqualTo(FlashSale.Answer.NOT_STARTED);
    assertThat(at(SALE.end(), BUYER)).isEqualTo(FlashSale.Answer.OVER);
    assertThat(at(BEGIN, BUYER)).isEqualTo(FlashSale.Answer.ORDERED);
    assertThat(at(BEGIN, BUYER)).isEqualTo(FlashSale.Answer.ALREADY_ORDERED);
    assertThat(at(SALE.end().minusMillis(1), "bert")).isEqualTo(FlashSale.Answer.ORDERED);
    assertThat(at(BEGIN, "cleo")).isEqualTo(FlashSale.Answer.SOLD_OUT);
    assertThat(orders("cleo")).isZero();
  }

  @Test
  void order_whileAnotherOfTheSameBuyerIsServed_doesNotWait() throws SQLException {
    try (var hold = there.lock("order:" + BUYER).tryAcquire().orElseThrow()) {
      assertThat(at(BEGIN, BUYER)).isEqualTo(FlashSale.Answer.ALREADY_ORDERED);
      assertThat(at(BEGIN, "bert"))
          .as("others do not wait for it")
          .isEqualTo(FlashSale.Answer.ORDERED);
      assertThat(hold.isValid()).isTrue();
    }
  }

  /** A shop is frozen between looking and writing until its lease has ended and the buyer has ordered elsewhere. */
  @Test
  @Warns("lock=order:anna .*hold lost: LEASE_ENDED")
  void frozenUntilAfterItsLease_isTooLate() throws SQLException {
    Ticker time = stoppedAt(BEGIN);
    FlashSale other = new FlashSale(there, OPTIONS, tables, time, SALE);
    FlashSale frozen = new FlashSale(here, OPTIONS, tables, time, SALE) {
      @Override
      void beforeWriting(String user) {
        freeze();
        assertThat(unchecked(() -> other.order(user))).isEqualTo(FlashSale.Answer.ORDERED);
      }
    };
    assertThat(frozen.order(BUYER)).isEqualTo(FlashSale.Answer.ALREADY_ORDERED);
    assertThat(orders(BUYER)).isEqualTo(1);
  }

  /** The same without the token: what the token is for. */
  @Test
  @Warns("lock=order:anna .*hold lost: LEASE_ENDED")
  void frozenUntilAfterItsLease_withoutTheToken_ordersTwice() throws SQLException {
    UnfencedSale other = new UnfencedSale(there, tables, ITEM, true);
    UnfencedSale frozen = new UnfencedSale(here, tables, ITEM, true);
    frozen.beforeWriting = () -> {
      freeze();
      assertThat(unchecked(() -> other.order(BUYER))).isTrue();
    };
    assertThat(frozen.order(BUYER)).isTrue();
    assertThat(orders(BUYER)).isEqualTo(2);
  }

  private void freeze() {
    clock.freeze(OPTIONS.leaseFor().plusSeconds(1));
  }

  /** The second click comes when the first has written and not committed. */
  @Test
  void lockAroundTheTransaction_refusesTheSecondClick() throws Exception {
    assertThat(secondClickBeforeTheCommit(true)).isFalse();
    assertThat(orders(BUYER)).isEqualTo(1);
  }

  /** The same with the lock inside the transaction: released before the commit, it protects nothing. */
  @Test
  void lockInsideTheTransaction_ordersTwice() throws Exception {
    assertThat(secondClickBeforeTheCommit(false)).isTrue();
    assertThat(orders(BUYER)).isEqualTo(2);
  }

  private boolean secondClickBeforeTheCommit(boolean lockAround) throws Exception {
    UnfencedSale first = new UnfencedSale(here, tables, ITEM, lockAround);
    UnfencedSale second = new UnfencedSale(there, tables, ITEM, lockAround);
    CountDownLatch looked = new CountDownLatch(1);
    second.beforeWriting = looked::countDown;
    AtomicBoolean clicked = new AtomicBoolean();
    CompletableFuture<Boolean> click = new CompletableFuture<>();
    first.beforeCommit = () -> {
      clicked.set(true);
      click.completeAsync(() -> {
        boolean ordered = unchecked(() -> second.order(BUYER));
        looked.countDown();
        return ordered;
      });
      assertThat(unchecked(() -> looked.await(20, TimeUnit.SECONDS))).isTrue();
    };
    assertThat(first.order(BUYER)).isTrue();
    assertThat(clicked).isTrue();
    return click.get(20, TimeUnit.SECONDS);
  }

  private static <T> T unchecked(java.util.concurrent.Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
