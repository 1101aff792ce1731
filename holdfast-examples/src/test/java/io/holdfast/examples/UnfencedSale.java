// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** How not to do it: the flash sale without tokens, with the lock around the transaction or inside it. */
final class UnfencedSale {
  private final Holdfast holdfast;
  private final SaleTables tables;
  private final long item;
  private final boolean lockAround;

  Runnable beforeWriting = () -> {};
  Runnable beforeCommit = () -> {};

  UnfencedSale(Holdfast holdfast, SaleTables tables, long item, boolean lockAround) {
    this.holdfast = holdfast;
    this.tables = tables;
    this.item = item;
    this.lockAround = lockAround;
  }

  boolean order(String user) throws SQLException {
    try (Connection connection = tables.connect()) {
      connection.setAutoCommit(false);
      Optional<Hold> free = holdfast.lock("order:" + user).tryAcquire();
      if (free.isEmpty()) {
        return false;
      }
      boolean written;
      try (Hold hold = free.get()) {
        written = write(connection, user, hold.token());
        if (lockAround) {
          end(connection, written);
        }
      }
      if (!lockAround) {
        end(connection, written);
      }
      return written;
    }
  }

  private boolean write(Connection connection, String user, long token) throws SQLException {
    if (tables.hasOrder(connection, item, user)) {
      return false;
    }
    beforeWriting.run();
    if (!tables.takeOne(connection, item)) {
      return false;
    }
    tables.addOrder(connection, item, user, token);
    return true;
  }

  private void end(Connection connection, boolean written) throws SQLException {
    if (written) {
      beforeCommit.run();
      connection.commit();
    } else {
      connection.rollback();
    }
  }
}
