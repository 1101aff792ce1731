// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Moment;
import io.holdfast.spi.StoreEvents;
import io.holdfast.spi.StoreRuntime;
import java.sql.SQLException;
import java.util.SplittableRandom;

/**
 * What all parts of a started store share.
 *
 * @param source where connections come from
 * @param dialect how the database is spoken to
 * @param options the settings
 * @param store its address for people
 * @param runtime what the engine lent
 * @param events whom to tell
 * @param clock what the database's clock reads
 */
record JdbcContext(
    JdbcSource source,
    JdbcDialect dialect,
    JdbcOptions options,
    String store,
    StoreRuntime runtime,
    StoreEvents events,
    JdbcClock clock) {
  /** A driver gives a connection up this much after the engine gave the request up. */
  private static final int TIMEOUT_SLACK_MILLIS = 500;

  Moment now() {
    return runtime.ticker().now();
  }

  boolean isOverdue(Moment asked) {
    return runtime.ticker().elapsedNanos(asked) > runtime.requestTimeout().toNanos();
  }

  /** A generator for one thread. To be called on the thread that starts the store: the engine's own may not be shared. */
  SplittableRandom split() {
    return new SplittableRandom(runtime.random().nextLong());
  }

  /** How long a driver waits for an answer. */
  int timeoutMillis() {
    long timeout = runtime.requestTimeout().toMillis() + TIMEOUT_SLACK_MILLIS;
    return (int) Math.min(timeout, Integer.MAX_VALUE);
  }

  /** Borrows a connection. */
  JdbcSession open() throws SQLException {
    return JdbcSession.open(source.connect(), dialect, options.tables(), timeoutMillis());
  }
}
