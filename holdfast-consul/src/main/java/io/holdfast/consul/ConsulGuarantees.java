// SPDX-License-Identifier: Apache-2.0
package io.holdfast.consul;

import io.holdfast.Guarantee;
import io.holdfast.Guarantees;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What is given and what is not. */
final class ConsulGuarantees {
  static final Duration LONGEST = Duration.ofHours(24);

  /** A word that was missed is found by the next look at the latest. */
  private static final Duration WAKES_WITHIN = Duration.ofSeconds(10);

  private ConsulGuarantees() {}

  static Guarantees of(ConsulSettings settings) {
    Set<Guarantee> given = EnumSet.allOf(Guarantee.class);
    given.remove(Guarantee.FAIR);
    Duration least = settings.shortestSession();
    Duration delay = settings.lockDelay();
    return new Guarantees(
        "Consul",
        given,
        least,
        LONGEST,
        LONGEST,
        // the server's sessions last longer, never shorter
        Duration.ZERO,
        WAKES_WITHIN.plus(delay),
        List.of(
            "Waiters are not served in the order in which they came: a released lock goes to the client that asks first.",
            "A session lasts between its TTL and twice that, and its locks are given to no client for the lock-delay ("
                + delay.toSeconds()
                + " s) after it: a dead client's lock is free up to twice its leaseFor (rounded up by an eighth at most) and that"
                + " later.",
            "All holds of a client with leases of about one length share a session: a dead client's lock ends when that session"
                + " does, which another hold of the same client may have renewed last.",
            "A session that is destroyed by an operator, or goes with its node when that is deregistered, and a key that"
                + " is deleted end holds without their holders' consent, and so does a forced release; it is told at the"
                + " next renewal that is answered (with renew(false) at the hold's own deadline). After a session's end the lock-delay gives the holder that time; after a key's there is"
                + " none.",
            "A session may end early for a fault of the servers (Consul issue 20424): then the lock-delay is all that"
                + " keeps two from holding a lock until the old holder's next renewal that is answered.",
            "holdAtLeast is at least " + least.toSeconds()
                + " s, and a kept lock may be free only after twice its time: it is kept by a session of its own.",
            "What is shown as left of a lease is the whole of it, the most that its holder may still count on: the servers"
                + " do not tell. A dead client's lock may last longer, up to twice that and the lock-delay (rounded up by an eighth"
                + " at most).",
            "A cluster restored from a snapshot goes back: holds and tokens with it."));
  }
}
