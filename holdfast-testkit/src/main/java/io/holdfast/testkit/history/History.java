// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.List;
import java.util.Objects;

/**
 * What happened, in the store's order.
 *
 * @param events all of it
 * @param bounds what "in time" means
 */
public record History(List<Event> events, Bounds bounds) {
  /** Checks that nothing is null. The list is not copied: it is long, and whoever made it is done with it. */
  public History {
    Objects.requireNonNull(events, "events");
    Objects.requireNonNull(bounds, "bounds");
  }
}
