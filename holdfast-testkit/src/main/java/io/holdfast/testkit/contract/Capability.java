// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

/** What a {@link StoreUnderTest} can do for the suites that not every store can be put through. */
public enum Capability {
  /** Arrival order between processes: {@link io.holdfast.Guarantee#FAIR}. */
  FAIR,
  /** {@link StoreUnderTest#restart()}: everybody disconnects, what is stored stays. */
  RESTART,
  /** {@link StoreUnderTest#stall()}: requests hang for as long as the test says. */
  STALL,
  /** {@link StoreUnderTest#uri()}: other processes of this machine can use the store. */
  PROCESSES
}
