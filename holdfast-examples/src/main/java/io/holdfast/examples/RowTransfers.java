// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.examples.Accounts.Account;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Transfers under the locks of the rows themselves. They are locked in the order of their keys, whichever of them gives:
 * two transfers in opposite directions would otherwise wait for each other. Locked first and then read: what was read
 * before is old.
 */
class RowTransfers implements Transfers {
  private final Accounts accounts;

  RowTransfers(Accounts accounts) {
    this.accounts = accounts;
  }

  @Override
  public Answer transfer(long from, long to, long amount) throws SQLException {
    Transfers.check(from, to, amount);
    return accounts.inTransaction(connection -> move(connection, from, to, amount));
  }

  private Answer move(Connection connection, long from, long to, long amount) throws SQLException {
    Optional<Account> first = read(connection, Math.min(from, to));
    Optional<Account> second = read(connection, Math.max(from, to));
    if (first.isEmpty() || second.isEmpty()) {
      return Answer.NO_SUCH_ACCOUNT;
    }
    Account giver = from < to ? first.get() : second.get();
    Account taker = from < to ? second.get() : first.get();
    if (giver.balance() < amount) {
      return Answer.INSUFFICIENT_FUNDS;
    }
    beforeWriting();
    accounts.write(connection, from, giver.balance() - amount);
    accounts.write(connection, to, taker.balance() + amount);
    return Answer.TRANSFERRED;
  }

  /** Keeps other transfers from reading it before this one has written; a test leaves the lock out. */
  Optional<Account> read(Connection connection, long id) throws SQLException {
    return accounts.lock(connection, id);
  }

  /** A test stops the transfer here. */
  void beforeWriting() {}
}
