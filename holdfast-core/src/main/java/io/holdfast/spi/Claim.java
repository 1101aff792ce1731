// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import io.holdfast.Holder;
import java.time.Duration;
import java.util.Objects;

/**
 * One acquisition, from its first attempt to its confirmed end. Asking again with the same claim is idempotent.
 *
 * @param id who asks
 * @param name for which lock
 * @param weight how much of the capacity it takes; 1 for a plain lock
 * @param capacity how much there is; 1 for a plain lock
 * @param lease how long a grant lasts without renewal
 * @param fair whether it keeps arrival order among those that ask for it
 * @param holder shown to people
 * @param renewed whether its lease is renewed while it is held; if not, its length may be what the caller counts on, also after
 *     a crash
 */
public record Claim(
    ClaimId id,
    LockKey name,
    int weight,
    int capacity,
    Duration lease,
    boolean fair,
    Holder holder,
    boolean renewed) {
  /** Checks that nothing is null. */
  public Claim {
    Objects.requireNonNull(id, "id");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(lease, "lease");
    Objects.requireNonNull(holder, "holder");
  }

  /**
   * Makes a claim whose lease is renewed while it is held.
   *
   * @param id who asks
   * @param name for which lock
   * @param weight how much of the capacity it takes
   * @param capacity how much there is
   * @param lease how long a grant lasts without renewal
   * @param fair whether it keeps arrival order among those that ask for it
   * @param holder shown to people
   */
  public Claim(
      ClaimId id,
      LockKey name,
      int weight,
      int capacity,
      Duration lease,
      boolean fair,
      Holder holder) {
    this(id, name, weight, capacity, lease, fair, holder, true);
  }
}
