// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** A few questions on a connection that a pool lends: it goes back as it came, or is ended, and then nobody gets it again. */
final class LentConnection {

  /** What is asked. */
  @FunctionalInterface
  interface Questions<T> {
    T ask(Connection connection) throws SQLException;
  }

  private LentConnection() {}

  /**
   * Asks in autocommit, and closes the connection.
   *
   * @param timeoutMillis how long each answer is waited for
   */
  static <T> T use(Connection lent, int timeoutMillis, Questions<T> questions) throws SQLException {
    boolean good = false;
    try {
      int networkTimeout = lent.getNetworkTimeout();
      // first of all: every question after it may be the one that is not answered
      lent.setNetworkTimeout(Runnable::run, timeoutMillis);
      boolean autoCommit = lent.getAutoCommit();
      lent.setAutoCommit(true);
      T answer = questions.ask(lent);
      lent.setAutoCommit(autoCommit);
      lent.setNetworkTimeout(Runnable::run, networkTimeout);
      good = true;
      return answer;
    } finally {
      if (good) {
        lent.close();
      } else {
        // whatever was set or asked for on it goes with its session
        Broken.end(lent, "a lent connection");
      }
    }
  }
}
