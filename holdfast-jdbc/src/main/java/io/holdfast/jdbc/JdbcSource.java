// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Ticker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Where connections come from: a pool of our own, or the application's data source. */
interface JdbcSource {
  /** Borrows a connection; closing it gives it back. */
  Connection connect() throws SQLException;

  /** Opens or borrows one that is kept beside the few that do the work, for as long as somebody waits. */
  Connection connectAside() throws SQLException;

  /** Whether there is such a one to spare, as far as that is known. */
  boolean sparesOne();

  /**
   * Whether its connections are opened for us alone. Those of an application's pool may look at the thread that uses them,
   * and take part in the transaction that it has.
   */
  boolean isOurs();

  /** The same, where how long a connection is waited for follows from how long requests may take. */
  default JdbcSource forRequestsOf(Duration requestTimeout, Ticker ticker) {
    return this;
  }

  /** Closes a pool of our own, and leaves the application's alone. */
  void close();
}
