// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import java.sql.SQLException;

/**
 * Moves money from one account to another: neither may be overdrawn, and no money may come or go. Several copies of the
 * service do it at once, and two transfers of one account must not both write what each has made of the same balance.
 *
 * <p>Three ways. {@link RowTransfers} lets the database lock the two rows: take it where the rows are all there is to it.
 * {@link OptimisticTransfers} locks nothing and looks before it writes: take it where transfers of one account seldom
 * meet. {@link LeasedTransfers} takes locks that any other store keeps, and is for transfers that take long, or ask other
 * systems between reading and writing: no transaction is open meanwhile, and tokens keep late writers out.
 */
interface Transfers {
  /** What has become of a transfer. */
  enum Answer {
    TRANSFERRED,
    NO_SUCH_ACCOUNT,
    INSUFFICIENT_FUNDS,
    /** We were too slow, and others have gone on without us. Nothing was written; it may be tried again. */
    TOO_LATE
  }

  /**
   * Moves an amount, or says why not.
   *
   * @param from the account that gives
   * @param to the account that gets, another one
   * @param amount how much, positive
   * @return what has become of it; only {@code TRANSFERRED} has changed anything
   * @throws SQLException trouble with the database; if it befell the commit, the transfer may have been made
   * @throws InterruptedException if the wait for others was interrupted; nothing was written
   */
  Answer transfer(long from, long to, long amount) throws SQLException, InterruptedException;

  /** Checks what is asked. */
  static void check(long from, long to, long amount) {
    if (from == to || amount <= 0) {
      throw new IllegalArgumentException(
          "a transfer moves something: from " + from + " to " + to + ", " + amount);
    }
  }
}
