// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * The states of a hold. {@code HELD -> AT_RISK -> LOST}, with a way back from {@code AT_RISK} to {@code HELD} and from
 * both to {@code RELEASED}; {@code LOST} and {@code RELEASED} are final.
 */
public enum HoldState {
  /** Held, and renewed in time (or a fixed lease that has not ended). */
  HELD,
  /** Still held, but a renewal is late or the connection is broken: finish, or be ready to lose the hold. */
  AT_RISK,
  /** Lost without a release. Final, and reported once. */
  LOST,
  /** Released; final. */
  RELEASED
}
