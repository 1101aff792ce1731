// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * I2: a hold that says it is valid has an open lease. A store's clock that stepped forward since the last extension, and
 * an operator who ended the lease, are the declared exceptions.
 */
final class LocalValidity extends Judge {
  private final Map<String, Map<Long, Lease>> leases = new HashMap<>();

  private static final class Lease {
    long until;
    boolean ended;
  }

  @Override
  void see(Event event) {
    switch (event.kind()) {
      case GRANTED -> {
        Lease lease = new Lease();
        lease.until = event.until();
        of(event).put(event.number(), lease);
        lease.ended = false;
        last.put(event.claim(), lease);
      }
      case EXTENDED -> {
        Lease lease = last.get(event.claim());
        if (lease != null && !lease.ended) {
          lease.until = event.until();
        }
      }
      case ENDED -> {
        Lease lease = last.get(event.claim());
        if (lease != null && event.by().equals(event.claim())) {
          lease.ended = true;
        }
      }
      case STORE_STEPPED -> {
        if (event.number() < 0) {
          last.values().forEach(lease -> lease.until -= event.number());
        }
      }
      case VALID -> valid(event);
      default -> {
        // the rest is for the other judges
      }
    }
  }

  /** The leases by their claims. */
  private final Map<String, Lease> last = new HashMap<>();

  private void valid(Event event) {
    @Nullable Lease lease = of(event).get(event.revision());
    if (lease == null) {
      broken(event, "a valid hold of a grant that the store never made");
    } else if (lease.ended) {
      broken(event, "valid, but its lease was ended by its own claim");
    } else if (event.at() > lease.until) {
      broken(event, "valid " + (event.at() - lease.until) + " ns after its lease has ended");
    }
  }

  private Map<Long, Lease> of(Event event) {
    return leases.computeIfAbsent(event.lock(), name -> new HashMap<>());
  }
}
