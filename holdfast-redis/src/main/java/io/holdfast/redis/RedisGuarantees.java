// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What is given and what is not, for each way to run Redis. The weakest server is assumed: one that keeps nothing. */
final class RedisGuarantees {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
  private static final Duration LONGEST_LEASE = Duration.ofDays(3660);
  private static final Duration GRANULARITY = Duration.ofMillis(1);

  /** A message that was missed is found by the next keep, a third of the waiter's lease later. */
  private static final Duration WAKES_WITHIN = RedisWaits.LEASE.dividedBy(3).plusMillis(200);

  private static final String RESTART =
      "A server that restarts forgets what it had not written to disk, holds and kept locks included: only with"
          + " appendonly yes and appendfsync always does it forget nothing.";
  private static final String FLUSH =
      "FLUSHALL, FLUSHDB, deleted or evicted keys forget holds: others can hold the same locks until the old holders"
          + " notice, at their next renewal at the latest.";
  private static final String CLOCK =
      "A clock of the server that steps forward ends leases early; one that steps back makes them last longer.";
  private static final String TOKENS =
      "Tokens go back only if a lock's record was lost and the server's clock then reads less than the record's"
          + " revision did.";
  private static final String DEAD_WAITER =
      "A waiter that died is passed over after 5 s at most, when its turn has come.";
  private static final String FORCED = "A forced release ends a hold without its holder's consent.";
  private static final String FAIR =
      "fair keeps the order among those that wait; a try takes a free lock past them.";

  static final Guarantees SINGLE = guarantees(
      "Redis",
      RESTART,
      "A failover to a replica, by whatever means, forgets what had not reached it; and a former primary that does not"
          + " know of it grants on for a while.",
      FLUSH,
      CLOCK,
      TOKENS,
      DEAD_WAITER,
      FORCED,
      FAIR);

  static final Guarantees SENTINEL = guarantees(
      "Redis Sentinel",
      "Replication is asynchronous. A failover forgets the grants, the renewals and the releases that had not reached"
          + " the new primary: two can hold a lock until the old holder's next renewal, and a released lock can come"
          + " back for its lease.",
      "A former primary that is cut off from the sentinels grants and renews on for the clients that reach it and no"
          + " sentinel: two can hold a lock until it is told that it is a replica.",
      "Tokens go back if a failover forgets a grant and the new primary's clock is behind the old one's by more than"
          + " the failover took.",
      RESTART,
      FLUSH,
      CLOCK,
      DEAD_WAITER,
      FORCED,
      FAIR);

  static final Guarantees CLUSTER = guarantees(
      "Redis Cluster",
      "Replication is asynchronous. When a replica takes over from a node, it forgets the grants, the renewals and the"
          + " releases that had not reached it: two can hold a lock until the old holder's next renewal, and a released"
          + " lock can come back for its lease.",
      "A node that is cut off from most of the others grants and renews on until cluster-node-timeout, for the clients"
          + " that reach it; one that was stopped and wakes may still answer what has waited in its sockets.",
      "Tokens go back if a failover forgets a grant and the new node's clock is behind the old one's by more than the"
          + " failover took, or if a slot is moved to a node whose clock is behind and the record was lost.",
      "While a slot is moved, requests for a lock without waiters are put off by the cluster: a move that takes longer"
          + " than the lease loses the holds of that slot, in time.",
      RESTART,
      FLUSH,
      CLOCK,
      DEAD_WAITER,
      FORCED,
      FAIR);

  private RedisGuarantees() {}

  /** Returns the same for a store that asks replicas to confirm. */
  static Guarantees with(Guarantees plain, RedisReplicas.Rule replicas) {
    if (!replicas.asks()) {
      return plain;
    }
    List<String> exceptions = new ArrayList<>();
    exceptions.add("holdfast.replicas=" + replicas.wanted()
        + ": a grant or a renewal counts only when so many replicas have confirmed it, so that a failover to one of"
        + " those does not forget it. It is not consensus: a replica that did not confirm it may be chosen, a"
        + " replica that restarts may forget it, and a former primary that is cut off with so many replicas grants"
        + " on.");
    exceptions.add("holdfast.replicas=" + replicas.wanted()
        + ": while fewer replicas answer, nothing is granted, and holds are lost when their leases end. A release is"
        + " not confirmed: after a failover the lock can come back for its lease.");
    exceptions.addAll(plain.exceptions());
    return new Guarantees(
        plain.store(),
        plain.given(),
        plain.shortestLease(),
        plain.longestLease(),
        plain.granularity(),
        plain.wakesWithin(),
        exceptions);
  }

  private static Guarantees guarantees(String store, String... exceptions) {
    return new Guarantees(
        store,
        Set.of(Guarantee.EXCLUDES_PROCESSES, Guarantee.EXCLUDES_MACHINES, Guarantee.FAIR),
        SHORTEST_LEASE,
        LONGEST_LEASE,
        GRANULARITY,
        WAKES_WITHIN,
        List.of(exceptions));
  }
}
