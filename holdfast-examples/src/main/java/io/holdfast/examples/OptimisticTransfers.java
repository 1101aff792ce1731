// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.examples.Accounts.Account;
import io.holdfast.jdbc.VersionColumn;
import io.holdfast.jdbc.VersionConflictException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Transfers that read without a lock, and write only if the versions of both rows are still those that were read; else
 * they read again. From the first raised version on the rows are locked after all, so these too go in the order of keys.
 */
class OptimisticTransfers implements Transfers {
  private static final VersionColumn VERSIONS = VersionColumn.of("account", "id", "version");
  private static final int ATTEMPTS = 50;

  private final Accounts accounts;

  OptimisticTransfers(Accounts accounts) {
    this.accounts = accounts;
  }

  @Override
  public Answer transfer(long from, long to, long amount) throws SQLException {
    Transfers.check(from, to, amount);
    for (int attempt = 1; ; attempt++) {
      try {
        return accounts.inTransaction(connection -> move(connection, from, to, amount));
      } catch (VersionConflictException e) {
        // another transfer has written, and so one of them made progress: read again, in another transaction
        if (attempt == ATTEMPTS) {
          return Answer.TOO_LATE;
        }
      }
    }
  }

  private Answer move(Connection connection, long from, long to, long amount) throws SQLException {
    Optional<Account> giver = accounts.read(connection, from);
    Optional<Account> taker = accounts.read(connection, to);
    if (giver.isEmpty() || taker.isEmpty()) {
      return Answer.NO_SUCH_ACCOUNT;
    }
    if (giver.get().balance() < amount) {
      return Answer.INSUFFICIENT_FUNDS;
    }
    Account first = from < to ? giver.get() : taker.get();
    Account second = from < to ? taker.get() : giver.get();
    beforeWriting();
    raise(connection, first);
    raise(connection, second);
    accounts.write(connection, from, giver.get().balance() - amount);
    accounts.write(connection, to, taker.get().balance() + amount);
    return Answer.TRANSFERRED;
  }

  /** Refuses a write that was made from an older version; a test leaves it out. */
  void raise(Connection connection, Account read) throws SQLException {
    VERSIONS.raise(connection, read.id(), read.version());
  }

  /** A test stops the transfer here. */
  void beforeWriting() {}
}
