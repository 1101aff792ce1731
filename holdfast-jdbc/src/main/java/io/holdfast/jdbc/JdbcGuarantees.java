// SPDX-License-Identifier: Apache-2.0
package io.holdfast.jdbc;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** What a database gives. */
final class JdbcGuarantees {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
  private static final Duration LONGEST_LEASE = Duration.ofDays(3660);
  private static final Duration GRANULARITY = Duration.ofNanos(1000);

  /** For the query, the timer and the change of threads, beside the poll itself. */
  private static final Duration WAKE_MARGIN = Duration.ofMillis(50);

  private static final Set<Guarantee> DURABLE = Set.of(
      Guarantee.EXCLUDES_PROCESSES,
      Guarantee.EXCLUDES_MACHINES,
      Guarantee.HOLDS_SURVIVE_RESTART,
      Guarantee.TOKENS_SURVIVE_RESTART,
      Guarantee.FAIR);

  /** A server that crashes, which is a restart, too, forgets its last moments. */
  private static final Set<Guarantee> RELAXED =
      Set.of(Guarantee.EXCLUDES_PROCESSES, Guarantee.EXCLUDES_MACHINES, Guarantee.FAIR);

  private JdbcGuarantees() {}

  static Guarantees of(JdbcDialect dialect, JdbcOptions options) {
    return new Guarantees(
        dialect.product(),
        options.durability() == Durability.RELAXED ? RELAXED : DURABLE,
        SHORTEST_LEASE,
        LONGEST_LEASE,
        GRANULARITY,
        longestWithoutALook(dialect, options).plus(WAKE_MARGIN),
        List.of(
            "Where replication is asynchronous, a failover forgets the grants, renewals and releases that had not reached"
                + " the new primary: two can hold a lock until the old holder's next renewal, and tokens can go back if the"
                + " new primary's clock is behind.",
            "A server that does not flush each commit to disk (synchronous_commit=off, as with"
                + " holdfast.durability=relaxed, or"
                + " innodb_flush_log_at_trx_commit other than 1) may forget its last moments when it crashes, as a"
                + " failover does.",
            "The server's clock that steps forward ends leases early; one that steps back makes them last longer.",
            "A user who deletes rows, restores a backup or changes a row by hand ends holds without their holders' consent, and"
                + " may take tokens back.",
            "A forced release ends a hold without its holder's consent.",
            "fair keeps the order among those that ask for it; others can take a free lock past them."));
  }

  /** Who listens looks more rarely, and is late by that if what should have been heard was lost. */
  private static Duration longestWithoutALook(JdbcDialect dialect, JdbcOptions options) {
    Duration poll = options.pollAtMost();
    boolean mayListen = dialect.canTell() && options.listening() != Listening.NEVER;
    return mayListen ? Duration.ofNanos(Waiting.longestHearingNanos(poll.toNanos())) : poll;
  }
}
