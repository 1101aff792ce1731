// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;

/** The end of connections that nobody is to use any more. */
final class Broken {
  private static final System.Logger LOG = System.getLogger(Broken.class.getName());

  private Broken() {}

  /**
   * Ends a connection, whatever it is doing; who waits for an answer on it fails, as far as its driver lets him. Closed it is
   * in any case: a pool that is not told counts it as lent for ever, and has none left one day.
   *
   * @param whose for the log
   */
  static void end(Connection connection, String whose) {
    try (connection) {
      connection.abort(Runnable::run);
    } catch (SQLException | RuntimeException e) {
      LOG.log(Level.DEBUG, whose + ": a broken connection was not closed as it should be", e);
    }
  }

  /** Ends the session of a connection that somebody else closes. */
  static void hangUp(Connection connection, String whose) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException | RuntimeException e) {
      LOG.log(Level.DEBUG, whose + ": a connection could not be hung up on", e);
    }
  }
}
