// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

/** How a replica takes the place of the store, when the world has one that replicates without waiting. */
public enum Failover {
  /** It had heard of everything; its clock is behind by no more than the failover took. */
  NOTHING_LOST,
  /** What was written last had not reached it; its clock is behind by no more than the failover took. */
  WRITES_LOST,
  /** As that, and its clock is further behind. */
  WRITES_LOST_AND_CLOCK_BEHIND
}
