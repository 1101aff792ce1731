// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

/** What a commit of a grant, a renewal or a release waits for. */
public enum Durability {
  /** What the database is set to. */
  DATABASE,
  /**
   * Nothing: PostgreSQL commits with {@code synchronous_commit=off}, for these statements alone. More than twice as fast; a
   * crash of the server forgets what it granted in the last moments (three times {@code wal_writer_delay}, 0.6 s by
   * default), and so does a failover, also to a synchronous standby: then two can hold a lock until the first one's next
   * renewal. MySQL and MariaDB know this for the whole server only, so that it is refused there.
   */
  RELAXED
}
