// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

import io.holdfast.spi.Grant;

/**
 * How long a claim is certainly ours, on both clocks. Written under the lane's lock, read without it.
 *
 * <p>These are numbers in the object that is kept, not a new object for each renewal: a reference that is written into
 * an old object is work for the collector, and with many holds that was most of what their renewals cost.
 */
abstract class Term {
  private long leaseNanos;
  private volatile long endNanos;
  private volatile long endWallNanos;

  /** The granularity of the store's clock. */
  abstract long granularityNanos();

  /** Takes a grant's lease: the first, or one that leaves more than what was known. */
  final void extend(Grant grant) {
    leaseNanos = grant.lease().toNanos();
    long valid = validNanos();
    long nanos = grant.anchor().nanos() + valid;
    long wall = wallNanos(grant.anchor().wallMillis()) + valid;
    // The nearer end counts. The monotonic clock's only goes forth; the wall clock's may go back, and then it does so
    // first: who reads it twice and sees the same has not mixed the new end of the one with the old of the other.
    if (wall - endWallNanos < 0) {
      endWallNanos = wall;
      endNanos = nanos;
    } else {
      endNanos = nanos;
      endWallNanos = wall;
    }
  }

  /** What is left of it, in nanoseconds; may be negative. */
  final long leftNanos(long nowNanos, long nowWallMillis) {
    long wall = endWallNanos;
    while (true) {
      long nanos = endNanos;
      long again = endWallNanos;
      if (again == wall) {
        return Math.min(nanos - nowNanos, wall - wallNanos(nowWallMillis));
      }
      wall = again;
    }
  }

  /** What a grant would leave, in nanoseconds. */
  final long leftOf(Grant grant, long nowNanos, long nowWallMillis) {
    return Validity.validNanos(grant.lease().toNanos(), granularityNanos())
        - grant.anchor().elapsedNanos(nowNanos, nowWallMillis);
  }

  /** The lease; under the lane's lock. */
  final long leaseNanos() {
    return leaseNanos;
  }

  /** How much of the lease is trusted; under the lane's lock. */
  final long validNanos() {
    return Validity.validNanos(leaseNanos, granularityNanos());
  }

  /** After what reading of the monotonic clock the lease began; under the lane's lock. */
  final long anchorNanos() {
    return endNanos - validNanos();
  }

  private static long wallNanos(long millis) {
    return millis * 1_000_000L;
  }
}
