// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.StaleTokenException;
import io.holdfast.examples.Accounts.Account;
import io.holdfast.jdbc.FencingGuard;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Transfers under leases of any store, which need not be the accounts' database. The lock of each account is taken in the
 * order of their keys. Between reading and writing nothing is open in the database, however long that takes.
 *
 * <p>A lease ends while its holder is stopped, and the holder does not know. So the database is told the tokens twice:
 * before reading, from when on no older holder can write; and in the transaction that writes, which it refuses if a newer
 * holder has come. With the second check alone, an older one might still write between a newer one's reading and writing.
 */
class LeasedTransfers implements Transfers {
  /** Both balances. */
  private record Balances(Optional<Account> from, Optional<Account> to) {}

  /** The hold of one account. */
  private record Held(long account, Hold hold) {}

  private final Holdfast holdfast;
  private final LockOptions options;
  private final Accounts accounts;

  /** Takes locks with these options, and uses accounts in whose database {@link FencingGuard} has its table. */
  LeasedTransfers(Holdfast holdfast, LockOptions options, Accounts accounts) {
    this.holdfast = holdfast;
    this.options = options;
    this.accounts = accounts;
  }

  @Override
  public Answer transfer(long from, long to, long amount)
      throws SQLException, InterruptedException {
    Transfers.check(from, to, amount);
    long first = Math.min(from, to);
    long second = Math.max(from, to);
    try (Hold one = acquire(first);
        Hold other = acquire(second)) {
      return move(new Held(first, one), new Held(second, other), from, to, amount);
    } catch (StaleTokenException e) {
      return Answer.TOO_LATE;
    }
  }

  private Hold acquire(long account) throws InterruptedException {
    return holdfast.lock(resource(account), options).acquire();
  }

  private static String resource(long account) {
    return "account:" + account;
  }

  private Answer move(Held first, Held second, long from, long to, long amount)
      throws SQLException {
    Balances read = accounts.inTransaction(connection -> {
      check(connection, first);
      check(connection, second);
      return new Balances(accounts.read(connection, from), accounts.read(connection, to));
    });
    if (read.from().isEmpty() || read.to().isEmpty()) {
      return Answer.NO_SUCH_ACCOUNT;
    }
    long left = read.from().get().balance() - amount;
    if (left < 0) {
      return Answer.INSUFFICIENT_FUNDS;
    }
    long grown = read.to().get().balance() + amount;
    beforeWriting();
    return accounts.inTransaction(connection -> {
      check(connection, first);
      check(connection, second);
      accounts.write(connection, from, left);
      accounts.write(connection, to, grown);
      return Answer.TRANSFERRED;
    });
  }

  private void check(Connection connection, Held held) throws SQLException {
    check(connection, resource(held.account()), held.hold().token());
  }

  /** Refuses a write after that of a newer holder; a test leaves it out. */
  void check(Connection connection, String resource, long token) throws SQLException {
    FencingGuard.check(connection, resource, token);
  }

  /** Here other systems would be asked whether the transfer is in order; a test stops the process here. */
  void beforeWriting() {}
}
