// SPDX-License-Identifier: Apache-2.0
package io.holdfast.zookeeper;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** What ZooKeeper gives. */
final class ZooKeeperGuarantees {
  /** How long a waiter that the engine forgot, or a pushed grant that nobody confirmed, stays. */
  static final Duration WAITER_LEASE = Duration.ofSeconds(5);

  private static final Duration SHORTEST_LEASE = Duration.ofMillis(200);

  /** It does not hang on a session. */
  private static final Duration LONGEST_KEPT = Duration.ofDays(3660);

  private ZooKeeperGuarantees() {}

  static Guarantees with(Duration longestLease, Duration tick, boolean given) {
    String session = given
        ? "All claims share the session of the application's client: what a dead process held or waited for ends with that"
            + " session, however short its lease."
        : "What a dead process held or waited for ends with its session: the lease and "
            + DurationText.exact(tick)
            + " more, rounded up by an eighth at most, and to the servers' minSessionTimeout (4 s unless configured);"
            + " the servers notice up to a tickTime later.";
    return new Guarantees(
        "ZooKeeper",
        Set.of(
            Guarantee.EXCLUDES_PROCESSES,
            Guarantee.EXCLUDES_MACHINES,
            Guarantee.HOLDS_SURVIVE_RESTART,
            Guarantee.HOLDS_SURVIVE_FAILOVER,
            Guarantee.TOKENS_SURVIVE_RESTART,
            Guarantee.TOKENS_SURVIVE_FAILOVER,
            Guarantee.FAIR,
            Guarantee.IMMUNE_TO_CLOCK_STEPS),
        SHORTEST_LEASE,
        longestLease,
        LONGEST_KEPT,
        Duration.ZERO,
        WAITER_LEASE.dividedBy(3).plusMillis(200),
        List.of(
            session,
            "The servers' tickTime must not be longer than "
                + DurationText.exact(tick)
                + ": a follower tells the leader of a session's life up to half a tick late, or, if it is cut off, never.",
            "An ensemble with forceSync=no can forget what it has confirmed when the machines lose power.",
            "An ensemble that is set up again, empty or from an old backup, forgets holds, and its tokens go back.",
            "A kept lock (holdAtLeast) is measured by the wall clock of the leading server, which may step.",
            "A forced release ends a hold without its holder's consent."));
  }
}
