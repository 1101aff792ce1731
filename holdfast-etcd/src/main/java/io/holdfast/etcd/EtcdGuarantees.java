// SPDX-License-Identifier: Apache-2.0
package io.holdfast.etcd;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;

/** What is given and what is not. */
final class EtcdGuarantees {
  private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
  private static final Duration LONGEST_LEASE = Duration.ofDays(365);

  /** The server looks for leases that have ended twice a second, and deletes their keys through the cluster's log. */
  private static final Duration WAKES_WITHIN = Duration.ofSeconds(2);

  static final Guarantees ALL = new Guarantees(
      "etcd",
      EnumSet.allOf(Guarantee.class),
      SHORTEST_LEASE,
      LONGEST_LEASE,
      // leases are whole seconds, rounded up: the server's last longer, never shorter
      Duration.ZERO,
      WAKES_WITHIN,
      List.of(
          "The server's leases are whole seconds, and not shorter than one and a half election timeouts (2 s by"
              + " default): a dead holder's lock ends with the lease that the server gave, which may be longer than"
              + " leaseFor.",
          "All holds of a client with leases of one length share a lease of the server: a dead client's lock ends when"
              + " that lease does, which another hold of the same client may have renewed last.",
          "After a restart or a change of the leader leases begin again: dead holders' locks last up to a lease longer.",
          "Servers without the fix of etcd issue 15247 (before 3.4.31 and 3.5.13): a leader that stood still, and has not"
              + " noticed that there is another one, may end leases that were renewed since, and may confirm renewals of"
              + " which the other one does not hear: two can hold a lock until the old holder's next renewal.",
          "A cluster restored from a snapshot goes back: holds and tokens with it.",
          "A lease that is revoked, or a key that is deleted, by an operator ends holds without their holders' consent,"
              + " and so does a forced release; it is told at the next renewal.",
          "A waiter that died is passed over after 5 s (and 2 s) at most, when its turn has come; one that died in the"
              + " instant after it came, before it was told that it waits, after its lease."));

  private EtcdGuarantees() {}
}
