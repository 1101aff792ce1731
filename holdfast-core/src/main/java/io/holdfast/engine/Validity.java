// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * The arithmetic of leases: how long a hold is certainly ours, and when its renewal is due. Pure functions.
 *
 * <p>The store keeps a lease of L for at least L / (1 + its clock's error) of real time, and we read at least (1 - our
 * clock's error) of real time: 1 % covers both errors tenfold for clocks that NTP keeps within 500 ppm, and 10 ms
 * covers the granularity of ours.
 */
final class Validity {
  private static final long MARGIN_NANOS = 10_000_000L;

  private static final long LONGEST_STEP_NANOS = 1L << 28;

  private Validity() {}

  /** Returns V = L - (1 % of L + 10 ms + the store's granularity); not below zero. */
  static long validNanos(long leaseNanos, long granularityNanos) {
    return Math.max(0, leaseNanos - leaseNanos / 100 - MARGIN_NANOS - granularityNanos);
  }

  /** A renewal is due a third into the lease. */
  static long renewAfter(long leaseNanos) {
    return leaseNanos / 3;
  }

  /**
   * Moves the time of a renewal to the grid at or before it: the holds of one client that are due at about the same time
   * are renewed in one wake-up and one request. A grid step is at most a 32nd of the lease and 0.3 s.
   *
   * @param phaseNanos where the grid lies, so that the clients of one machine do not march in step
   */
  static long renewalGrid(long dueNanos, long leaseNanos, long phaseNanos) {
    long step = Long.highestOneBit(Math.max(1, Math.min(leaseNanos / 32, LONGEST_STEP_NANOS)));
    return ((dueNanos - phaseNanos) & -step) + phaseNanos;
  }

  /** A hold is at risk when its renewal is a sixth of the lease late. */
  static long atRiskAfter(long leaseNanos) {
    return leaseNanos / 2;
  }

  /** A renewal that failed is tried again after a twelfth of the lease, at most a second. */
  static long retryAfter(long leaseNanos) {
    return Math.min(leaseNanos / 12, 1_000_000_000L);
  }

  /** A request never takes longer than a third of the lease that it is about. */
  static long requestNanos(long requestTimeoutNanos, long leaseNanos) {
    return Math.min(requestTimeoutNanos, leaseNanos / 3);
  }
}
