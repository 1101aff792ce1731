// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

/** What goes wrong in a simulated world. A fault is counted when it took effect, not when it was meant to. */
public enum Fault {
  /** A request did not reach the store. */
  LOST_REQUEST,
  /** A request was applied, and its answer did not come back. */
  LOST_REPLY,
  /** What the store said unasked did not arrive. */
  LOST_PUSH,
  /** A request or its answer took longer than its sender waits. */
  DELAY,
  /** A request was applied twice. */
  DUPLICATE,
  /** An attempt reached the store after its claim had been ended. */
  LATE_ARRIVAL,
  /** A request waited in the store before it was applied. */
  STORE_WAIT,
  /** A request failed at once, and was not applied. */
  REFUSED,
  /** A request failed, and may have been applied. */
  BROKEN,
  /** A process could not reach the store for a while. */
  CUT,
  /** A process did not run for a while; its clocks went on. */
  PAUSE,
  /** A machine slept; its monotonic clock stood still. */
  SUSPEND,
  /** A process died. */
  CRASH,
  /** A client was closed in the middle of its work. */
  CLOSE,
  /** A process's wall clock was set. */
  WALL_STEP,
  /** The store's clock was set. */
  STORE_STEP,
  /** A waiting caller was interrupted. */
  INTERRUPT,
  /** A future was completed by its owner. */
  CANCEL,
  /** A hold was dropped unreleased. */
  DROP,
  /** An operator ended a hold. */
  EVICT
}
