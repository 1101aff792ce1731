// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a store gives, and what it does not.
 *
 * <pre>{@code
 * // at start-up; throws if the store excludes the processes of one machine only
 * Guarantees guarantees = holdfast.guarantees().require(Guarantee.EXCLUDES_MACHINES);
 * }</pre>
 *
 * @param store the kind of store, for people
 * @param given what it gives
 * @param shortestLease the shortest lease that it can keep
 * @param longestLease the longest
 * @param longestHoldAtLeast the longest {@link LockOptions#holdAtLeast()}
 * @param granularity the steps in which it measures leases
 * @param wakesWithin how long after a release or an expiry a waiter is told at the latest, outages aside; the local run
 *     of another process comes on top
 * @param exceptions in which cases the promises do not hold, one sentence each
 */
public record Guarantees(
    String store,
    Set<Guarantee> given,
    Duration shortestLease,
    Duration longestLease,
    Duration longestHoldAtLeast,
    Duration granularity,
    Duration wakesWithin,
    List<String> exceptions) {
  /** Copies the collections and checks that nothing is null. */
  public Guarantees {
    Objects.requireNonNull(store, "store");
    given = Set.copyOf(given);
    Objects.requireNonNull(shortestLease, "shortestLease");
    Objects.requireNonNull(longestLease, "longestLease");
    Objects.requireNonNull(longestHoldAtLeast, "longestHoldAtLeast");
    Objects.requireNonNull(granularity, "granularity");
    Objects.requireNonNull(wakesWithin, "wakesWithin");
    exceptions = List.copyOf(exceptions);
  }

  /**
   * Makes guarantees of a store that keeps a lock after its release for as long as it can lease it.
   *
   * @param store the kind of store, for people
   * @param given what it gives
   * @param shortestLease the shortest lease that it can keep
   * @param longestLease the longest, and the longest {@link LockOptions#holdAtLeast()}
   * @param granularity the steps in which it measures leases
   * @param wakesWithin how long after a release or an expiry a waiter is told at the latest
   * @param exceptions in which cases the promises do not hold, one sentence each
   */
  public Guarantees(
      String store,
      Set<Guarantee> given,
      Duration shortestLease,
      Duration longestLease,
      Duration granularity,
      Duration wakesWithin,
      List<String> exceptions) {
    this(
        store,
        given,
        shortestLease,
        longestLease,
        longestLease,
        granularity,
        wakesWithin,
        exceptions);
  }

  /**
   * Fails at start-up instead of in production.
   *
   * @param wanted what the application needs
   * @return this
   * @throws ConfigurationException naming everything that is missing
   */
  public Guarantees require(Guarantee... wanted) {
    Objects.requireNonNull(wanted, "wanted");
    Set<Guarantee> missing = EnumSet.noneOf(Guarantee.class);
    missing.addAll(Arrays.asList(wanted));
    missing.removeAll(given);
    if (!missing.isEmpty()) {
      throw new ConfigurationException(
          store + " does not give " + missing
              + "; choose a store that does, or drop the requirement",
          store,
          null);
    }
    return this;
  }

  /**
   * Says them in one line, for a log.
   *
   * @return every component, what is given in the order of {@link Guarantee}; durations read as {@code 30 s}
   */
  @Override
  public String toString() {
    return "Guarantees[store=" + store + ", given=" + new TreeSet<>(given) + ", shortestLease="
        + DurationText.exact(shortestLease) + ", longestLease=" + DurationText.exact(longestLease)
        + ", longestHoldAtLeast=" + DurationText.exact(longestHoldAtLeast) + ", granularity="
        + DurationText.exact(granularity) + ", wakesWithin=" + DurationText.exact(wakesWithin)
        + ", exceptions=" + exceptions + "]";
  }
}
