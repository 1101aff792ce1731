// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.Map;

/** I1: a grant while an earlier lease is open, or while the lock is kept, is a violation. */
final class Exclusion extends Judge {
  /** Clocks of store and observer may differ in rate: what was asked for is counted with this much of a discount. */
  private static final long DRIFT_PERCENT = 2;

  private final Map<String, Lease> leases = new HashMap<>();

  /** What the lock's last grant has become. */
  private static final class Lease {
    String claim = "";
    long revision;
    long since;
    long until;
    boolean open;
    long keptUntil;
    long keepAsked;
  }

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case GRANTED -> granted(event);
      case EXTENDED -> extended(event);
      case RELEASING -> {
        Lease lease = lease(event);
        if (lease.revision == event.revision()) {
          lease.keepAsked = event.other();
        }
      }
      case ENDED -> ended(event);
      case EVICTED -> {
        Lease lease = lease(event);
        lease.open = false;
        lease.keptUntil = 0;
      }
      case EXPIRED -> expired(event);
      case STORE_STEPPED ->
        leases.values().forEach(lease -> {
          lease.until -= event.number();
          lease.since -= event.number();
          if (lease.keptUntil > event.at()) {
            lease.keptUntil -= event.number();
          }
        });
      default -> {
        // the rest is for the other judges
      }
    }
  }

  private void granted(Event event) {
    Lease lease = lease(event);
    if (lease.open && event.at() < lease.until) {
      broken(event, "granted while the lease of " + lease.claim + " is open");
    } else if (event.at() < lease.keptUntil) {
      broken(event, "granted while the lock is kept");
    }
    lease.claim = event.claim();
    lease.revision = event.number();
    lease.since = event.at();
    lease.until = event.until();
    lease.open = true;
    lease.keptUntil = 0;
    lease.keepAsked = 0;
  }

  private void extended(Event event) {
    Lease lease = lease(event);
    if (lease.claim.equals(event.claim())) {
      lease.until = event.until();
      lease.open = true;
    } else if (lease.open && event.at() < lease.until) {
      broken(event, "extended while the lease of " + lease.claim + " is open");
    }
  }

  private void expired(Event event) {
    Lease lease = lease(event);
    if (event.other() == 1 || !lease.claim.equals(event.claim())) {
      return;
    }
    if (event.at() < lease.until) {
      broken(event, "the lease was to last until " + lease.until);
    }
    lease.open = false;
  }

  private void ended(Event event) {
    Lease lease = lease(event);
    // a lease that somebody else ended is still its owner's
    if (lease.claim.equals(event.claim()) && event.by().equals(event.claim())) {
      lease.open = false;
      long asked = lease.keepAsked - lease.keepAsked / 100 * DRIFT_PERCENT;
      lease.keptUntil = Math.max(event.until(), lease.keepAsked == 0 ? 0 : lease.since + asked);
    }
  }

  private Lease lease(Event event) {
    return leases.computeIfAbsent(event.lock(), name -> new Lease());
  }
}
