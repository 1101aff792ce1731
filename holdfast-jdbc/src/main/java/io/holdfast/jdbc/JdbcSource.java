// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Where connections come from: a pool of our own, or the application's data source. */
interface JdbcSource {
  /** Borrows a connection; closing it gives it back. */
  Connection connect() throws SQLException;

  /** Closes a pool of our own, and leaves the application's alone. */
  void close();
}
