// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

/** Whether waiters on PostgreSQL listen to what releases say, which takes a connection for as long as somebody waits. */
public enum Listening {
  /**
   * They do if there is a connection to spare: always with an address, whose connections are ours; with the application's
   * data source if it is a HikariCP pool of at least four connections, or the driver's own that opens a new one each time.
   */
  AUTO,
  /** They do, whatever the data source. A pool must have at least three connections, and what the application needs. */
  ALWAYS,
  /** They do not: they poll. */
  NEVER
}
