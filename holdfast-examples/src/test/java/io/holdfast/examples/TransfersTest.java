// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.examples.Accounts.Account;
import io.holdfast.jdbc.FencingGuard;
import io.holdfast.memory.MemoryDatabase;
import io.holdfast.memory.MemoryStore;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.ManualClock;
import io.holdfast.testkit.log.Warns;
import io.holdfast.testkit.sql.SqlKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a transfer answers; and what happens to one that is stopped between reading and writing. */
@Tag("stores")
class TransfersTest {
  private static final LockOptions OPTIONS = LockOptions.builder().build();

  private final ManualClock clock = new ManualClock();
  private final MemoryDatabase locks = new MemoryDatabase(clock);

  private Holdfast client() {
    return Holdfast.builder()
        .store(new MemoryStore(locks))
        .ticker(clock)
        .scheduler(clock)
        .build();
  }

  private static Accounts accounts(SqlKind kind) throws SQLException {
    Accounts accounts = new Accounts(kind.shared().dataSource());
    FencingGuard.createTable(accounts.dataSource());
    accounts.open(3, 100);
    // tokens of another test's store
    for (int id = 1; id <= 3; id++) {
      String resource = "account:" + id;
      accounts.inTransaction(connection -> {
        FencingGuard.reset(connection, resource);
        return true;
      });
    }
    return accounts;
  }

  private static List<Long> balances(Accounts accounts) throws SQLException {
    return accounts.inTransaction(connection -> List.of(
        accounts.read(connection, 1).orElseThrow().balance(),
        accounts.read(connection, 2).orElseThrow().balance(),
        accounts.read(connection, 3).orElseThrow().balance()));
  }

  @ParameterizedTest
  @EnumSource
  void transfer_saysWhatHasBecomeOfIt(SqlKind kind) throws Exception {
    Accounts accounts = accounts(kind);
    try (Holdfast client = client()) {
      for (Transfers way : List.of(
          new RowTransfers(accounts),
          new OptimisticTransfers(accounts),
          new LeasedTransfers(client, OPTIONS, accounts))) {
        accounts.open(3, 100);
        assertThat(way.transfer(1, 2, 100)).isEqualTo(Transfers.Answer.TRANSFERRED);
        assertThat(way.transfer(3, 1, 30)).isEqualTo(Transfers.Answer.TRANSFERRED);
        assertThat(balances(accounts)).as("%s", way).containsExactly(30L, 200L, 70L);
        assertThat(way.transfer(1, 2, 31)).isEqualTo(Transfers.Answer.INSUFFICIENT_FUNDS);
        assertThat(way.transfer(1, 4, 1)).isEqualTo(Transfers.Answer.NO_SUCH_ACCOUNT);
        assertThat(way.transfer(4, 1, 1)).isEqualTo(Transfers.Answer.NO_SUCH_ACCOUNT);
        assertThat(balances(accounts)).as("%s", way).containsExactly(30L, 200L, 70L);
        assertThatThrownBy(() -> way.transfer(1, 1, 1))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> way.transfer(1, 2, 0))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  /** Its lease ends between reading and writing, and another one transfers: it writes nothing. */
  @ParameterizedTest
  @EnumSource
  @Warns({"lock=account:1 .*hold lost: LEASE_ENDED", "lock=account:2 .*hold lost: LEASE_ENDED"})
  void stopped_pastItsLease_isTooLate(SqlKind kind) throws Exception {
    Accounts accounts = accounts(kind);
    try (Holdfast here = client();
        Holdfast there = client()) {
      LeasedTransfers next = new LeasedTransfers(there, OPTIONS, accounts);
      LeasedTransfers stopped = new LeasedTransfers(here, OPTIONS, accounts) {
        @Override
        void beforeWriting() {
          clock.freeze(OPTIONS.leaseFor().plusSeconds(1));
          assertThat(unchecked(() -> next.transfer(3, 1, 50)))
              .isEqualTo(Transfers.Answer.TRANSFERRED);
        }
      };
      assertThat(stopped.transfer(1, 2, 10)).isEqualTo(Transfers.Answer.TOO_LATE);
      assertThat(balances(accounts)).containsExactly(150L, 100L, 50L);
    }
  }

  /**
   * The next one has read, and not yet written, when the stopped one goes on: that is why tokens are told before reading,
   * too. With the check before writing alone, both would write.
   */
  @Test
  @Warns({"lock=account:1 .*hold lost: LEASE_ENDED", "lock=account:2 .*hold lost: LEASE_ENDED"})
  void stopped_untilTheNextHasRead_isTooLate() throws Exception {
    Accounts accounts = accounts(SqlKind.POSTGRESQL);
    try (Holdfast here = client();
        Holdfast there = client()) {
      CompletableFuture<Void> nextHasRead = new CompletableFuture<>();
      CompletableFuture<Transfers.Answer> ofStopped = new CompletableFuture<>();
      LeasedTransfers next = new LeasedTransfers(there, OPTIONS, accounts) {
        @Override
        void beforeWriting() {
          nextHasRead.complete(null);
          assertThat(ofStopped.orTimeout(20, TimeUnit.SECONDS).join())
              .isEqualTo(Transfers.Answer.TOO_LATE);
        }
      };
      CompletableFuture<Transfers.Answer> ofNext = new CompletableFuture<>();
      LeasedTransfers stopped = new LeasedTransfers(here, OPTIONS, accounts) {
        @Override
        void beforeWriting() {
          clock.freeze(OPTIONS.leaseFor().plusSeconds(1));
          ofNext.completeAsync(() -> unchecked(() -> next.transfer(3, 1, 50)));
          nextHasRead.orTimeout(20, TimeUnit.SECONDS).join();
        }
      };
      ofStopped.complete(stopped.transfer(1, 2, 10));
      assertThat(ofNext.get(20, TimeUnit.SECONDS)).isEqualTo(Transfers.Answer.TRANSFERRED);
      assertThat(balances(accounts)).containsExactly(150L, 100L, 50L);
    }
  }

  /** Another transfer of the account comes while one is between reading and writing: it waits, and reads what was written. */
  @ParameterizedTest
  @EnumSource
  void rowLock_letsTheNextOneWait(SqlKind kind) throws Exception {
    Accounts accounts = accounts(kind);
    RowTransfers next = new RowTransfers(accounts);
    CompletableFuture<Transfers.Answer> ofNext = new CompletableFuture<>();
    RowTransfers stopped = new RowTransfers(accounts) {
      @Override
      void beforeWriting() {
        ofNext.completeAsync(() -> unchecked(() -> next.transfer(3, 1, 50)));
        Await.until("the next one waits", () -> oneWaits(kind));
      }
    };
    assertThat(stopped.transfer(1, 2, 10)).isEqualTo(Transfers.Answer.TRANSFERRED);
    assertThat(ofNext.get(20, TimeUnit.SECONDS)).isEqualTo(Transfers.Answer.TRANSFERRED);
    assertThat(balances(accounts)).containsExactly(140L, 110L, 50L);
  }

  /** Another transaction is at the statement that locks, and not past it. */
  private static boolean oneWaits(SqlKind kind) {
    String waiting = kind == SqlKind.POSTGRESQL
        ? "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        : "SELECT count(*) FROM information_schema.processlist"
            + " WHERE info LIKE '%FOR UPDATE%' AND id <> CONNECTION_ID()";
    return kind.shared().query(waiting).contains("1");
  }

  /** The negative control: without {@code FOR UPDATE} both have read the same balance, and the later write wins. */
  @ParameterizedTest
  @EnumSource
  void withoutTheRowLock_moneyIsLost(SqlKind kind) throws Exception {
    Accounts accounts = accounts(kind);
    RowTransfers next = new RowTransfers(accounts);
    RowTransfers stopped = new RowTransfers(accounts) {
      @Override
      Optional<Account> read(Connection connection, long id) throws SQLException {
        return accounts.read(connection, id);
      }

      @Override
      void beforeWriting() {
        assertThat(unchecked(() -> next.transfer(3, 1, 50)))
            .isEqualTo(Transfers.Answer.TRANSFERRED);
      }
    };
    assertThat(stopped.transfer(1, 2, 10)).isEqualTo(Transfers.Answer.TRANSFERRED);
    assertThat(balances(accounts)).as("the 50 are lost").containsExactly(90L, 110L, 50L);
  }

  /** Another transfer of the account is made while one is between reading and writing: it begins anew. */
  @ParameterizedTest
  @EnumSource
  void version_letsTheSlowerOneBeginAnew(SqlKind kind) throws Exception {
    Accounts accounts = accounts(kind);
    OptimisticTransfers next = new OptimisticTransfers(accounts);
    AtomicInteger attempts = new AtomicInteger();
    OptimisticTransfers stopped = new OptimisticTransfers(accounts) {
      @Override
      void beforeWriting() {
        if (attempts.incrementAndGet() == 1) {
          assertThat(unchecked(() -> next.transfer(3, 1, 50)))
              .isEqualTo(Transfers.Answer.TRANSFERRED);
        }
      }
    };
    assertThat(stopped.transfer(1, 2, 10)).isEqualTo(Transfers.Answer.TRANSFERRED);
    assertThat(attempts).hasValue(2);
    assertThat(balances(accounts)).containsExactly(140L, 110L, 50L);
  }

  /** The negative control: without the look at the version the slower one overwrites what it has not read. */
  @ParameterizedTest
  @EnumSource
  void withoutTheVersion_moneyIsLost(SqlKind kind) throws Exception {
    Accounts accounts = accounts(kind);
    OptimisticTransfers next = new OptimisticTransfers(accounts);
    OptimisticTransfers stopped = new OptimisticTransfers(accounts) {
      @Override
      void raise(Connection connection, Account read) {}

      @Override
      void beforeWriting() {
        assertThat(unchecked(() -> next.transfer(3, 1, 50)))
            .isEqualTo(Transfers.Answer.TRANSFERRED);
      }
    };
    assertThat(stopped.transfer(1, 2, 10)).isEqualTo(Transfers.Answer.TRANSFERRED);
    assertThat(balances(accounts)).as("the 50 are lost").containsExactly(90L, 110L, 50L);
  }

  private static <T> T unchecked(java.util.concurrent.Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
