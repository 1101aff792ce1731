// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

/**
 * Rules that look right and are not, each one change away from the right one. (d), a client that mixes numbers, is in
 * {@link RedlockCounterexamplesTest}, step by step.
 */
enum RedlockFlaw {
  /** The right rule. */
  NONE,
  /** (a) A node that may have forgotten waits for a lease only, not for twice the reach. */
  WAITS_FOR_A_LEASE,
  /** (b) A node notices its restart, but has no marker that would tell of a flush or a snapshot. */
  NO_MARKER,
  /** (c) A node forgets the last number together with the lease. */
  LAST_ENDS_WITH_THE_LEASE,
  /** (e) Each node takes a number of its own; the client takes the greatest, and tells nobody. */
  NUMBERS_OF_THE_NODES,
  /** (f) A node that may have forgotten waits for the lease of whoever asks, not for the longest. */
  WAITS_FOR_THE_ASKERS_LEASE
}
