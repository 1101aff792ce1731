// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.Ticker;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * Few pieces, many buyers, one piece for each. Several copies of the service take orders; a buyer who clicks on four of
 * them at once must get one piece, and no more pieces must be sold than there are.
 *
 * <p>Two means for two things. The stock is one row, decremented only while positive: the database counts, and a lock for
 * all buyers would only make them queue. That a buyer has no order yet is seen by looking, and between looking and writing
 * others look too: that is what the lock is for, one for each buyer, so that buyers do not wait for each other.
 *
 * <p>The lock encloses the transaction. The other way round, the lock is released before the commit, and the next
 * holder does not see the order that is not committed yet.
 *
 * <p>The token makes it safe against a holder that was frozen until long after its lease: first the newest token is noted
 * for the buyer, and an order is written only under the token that is noted still.
 */
class FlashSale {
  /** What a buyer is told. */
  enum Answer {
    ORDERED,
    NOT_STARTED,
    OVER,
    SOLD_OUT,
    /** The buyer has an order, or another request of the same buyer is being served. */
    ALREADY_ORDERED
  }

  /**
   * What is sold, and when.
   *
   * @param item the stock's row
   * @param begin the first moment of the sale
   * @param end the first moment after it
   */
  record Sale(long item, Instant begin, Instant end) {}

  private final Holdfast holdfast;
  private final LockOptions options;
  private final SaleTables tables;
  private final Ticker clock;
  private final Sale sale;

  FlashSale(Holdfast holdfast, LockOptions options, SaleTables tables, Ticker clock, Sale sale) {
    this.holdfast = holdfast;
    this.options = options;
    this.tables = tables;
    this.clock = clock;
    this.sale = sale;
  }

  /** Takes an order, or says why not. */
  Answer order(String user) throws SQLException {
    Instant now = Instant.ofEpochMilli(clock.wallMillis());
    if (now.isBefore(sale.begin())) {
      return Answer.NOT_STARTED;
    }
    if (!now.isBefore(sale.end())) {
      return Answer.OVER;
    }
    // only a try: a second click is not to wait for the first
    Optional<Hold> free = holdfast.lock("order:" + user, options).tryAcquire();
    if (free.isEmpty()) {
      return Answer.ALREADY_ORDERED;
    }
    try (Hold hold = free.get();
        Connection connection = tables.connect()) {
      return order(connection, user, hold);
    }
  }

  private Answer order(Connection connection, String user, Hold hold) throws SQLException {
    if (!tables.note(connection, user, hold.token())) {
      return Answer.ALREADY_ORDERED;
    }
    connection.setAutoCommit(false);
    Answer answer = write(connection, user, hold);
    if (answer == Answer.ORDERED) {
      connection.commit();
    } else {
      connection.rollback();
    }
    return answer;
  }

  private Answer write(Connection connection, String user, Hold hold) throws SQLException {
    if (tables.hasOrder(connection, sale.item(), user)) {
      return Answer.ALREADY_ORDERED;
    }
    beforeWriting(user);
    if (!tables.isNoted(connection, user, hold.token())) {
      // our lease has ended, and a newer request of this buyer has begun since
      return Answer.ALREADY_ORDERED;
    }
    if (!tables.takeOne(connection, sale.item())) {
      return Answer.SOLD_OUT;
    }
    tables.addOrder(connection, sale.item(), user, hold.token());
    return Answer.ORDERED;
  }

  /** Here the payment would be made ready; a test stops the process here. */
  void beforeWriting(String user) {}

  /** Orders piece 1 for one buyer, today: {@code FlashSale STORE JDBC-URL BUYER}. */
  public static void main(String[] args) throws SQLException {
    if (args.length != 3) {
      System.err.println("usage: FlashSale STORE JDBC-URL BUYER");
      System.exit(64);
    }
    SaleTables tables = new SaleTables(() -> DriverManager.getConnection(args[1]));
    tables.create(1, 100);
    tables.addAccount(args[2]);
    Ticker clock = Ticker.system();
    Instant now = Instant.ofEpochMilli(clock.wallMillis());
    Sale sale = new Sale(1, now.minusSeconds(1), now.plusSeconds(60));
    try (Holdfast holdfast = Holdfast.connect(args[0])) {
      LockOptions options = LockOptions.builder().note("flash sale").build();
      System.out.println(new FlashSale(holdfast, options, tables, clock, sale).order(args[2]));
    }
  }
}
