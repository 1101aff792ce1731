// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * What the store says of one lock, at one instant. For people and for {@link LockAdmin}; by the time it is read it may
 * be out of date.
 *
 * @param name the lock
 * @param holder the holder; empty if the lock is not held
 * @param since when it was granted, on the store's clock; empty if the lock is not held
 * @param leaseLeft what is left of the lease: the most that its holder may still count on, which is the whole of it on stores
 *     that do not tell, ZooKeeper and Consul; a dead holder's lock may be free only later, see the store's {@link
 *     Guarantees#exceptions()}; zero if the lock is not held
 * @param token the token of the grant (the holder's own may be greater by the hand-overs within its process)
 * @param keptUntil set while a finished hold's {@code holdAtLeast} keeps the lock taken
 * @param waiters the number of waiters, as far as the store knows it
 */
public record LockInfo(
    String name,
    Optional<Holder> holder,
    Optional<Instant> since,
    Duration leaseLeft,
    long token,
    Optional<Instant> keptUntil,
    Waiters waiters) {
  /** Checks that nothing is null. */
  public LockInfo {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(holder, "holder");
    Objects.requireNonNull(since, "since");
    Objects.requireNonNull(leaseLeft, "leaseLeft");
    Objects.requireNonNull(keptUntil, "keptUntil");
    Objects.requireNonNull(waiters, "waiters");
  }

  /**
   * Says whether the lock cannot be acquired now.
   *
   * @return true while the lock is held or {@code holdAtLeast} keeps it taken
   */
  public boolean isTaken() {
    return holder.isPresent() || keptUntil.isPresent();
  }

  /**
   * Says it in one line, for a log.
   *
   * @return every component; durations read as {@code 29.7 s}, what is not there as {@code none}
   */
  @Override
  public String toString() {
    return "LockInfo[name=" + name + ", holder=" + holder.map(Holder::describe).orElse("none")
        + ", since=" + since.map(Instant::toString).orElse("none") + ", leaseLeft="
        + DurationText.of(leaseLeft) + ", token=" + token + ", keptUntil="
        + keptUntil.map(Instant::toString).orElse("none") + ", waiters=" + waiters + "]";
  }
}
