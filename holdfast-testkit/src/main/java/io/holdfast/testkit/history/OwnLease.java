// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.Map;

/** I6: who extends, ends or withdraws is the owner, of a lease that is still open; an operator ends what was seen. */
final class OwnLease extends Judge {
  /** By how much rounding alone may make the end of a lease in an event too early: a store may count in microseconds. */
  private static final long ROUNDING_NANOS = 3_000;

  private final Map<String, Lease> leases = new HashMap<>();

  private static final class Lease {
    String claim = "";
    long revision;
    long until;
    boolean open;
  }

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case GRANTED -> {
        Lease lease = lease(event);
        lease.claim = event.claim();
        lease.revision = event.number();
        lease.until = event.until();
        lease.open = true;
      }
      case EXTENDED -> extended(event);
      case ENDED -> {
        own(event, "ended");
        close(event);
      }
      case UNQUEUED -> own(event, "withdrawn");
      case EVICTED -> {
        if (lease(event).revision != event.number()) {
          broken(event, "an operator saw revision " + event.number() + " and ended another grant");
        }
        close(event);
      }
      case EXPIRED -> {
        if (event.other() == 0) {
          close(event);
        }
      }
      case STORE_STEPPED -> leases.values().forEach(lease -> lease.until -= event.number());
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void extended(Event event) {
    own(event, "extended");
    Lease lease = lease(event);
    if (!lease.claim.equals(event.claim())
        || !lease.open
        || event.at() > lease.until + ROUNDING_NANOS) {
      broken(event, "extended a lease that is not open");
    }
    lease.until = event.until();
  }

  private void own(Event event, String what) {
    if (!event.by().equals(event.claim())) {
      broken(event, what + " by a claim that does not own it");
    }
  }

  private void close(Event event) {
    Lease lease = lease(event);
    if (lease.claim.equals(event.claim())) {
      lease.open = false;
    }
  }

  private Lease lease(Event event) {
    return leases.computeIfAbsent(event.lock(), name -> new Lease());
  }
}
