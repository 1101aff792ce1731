// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * The states of a hold. {@code HELD -> AT_RISK -> LOST}, with a way back from {@code AT_RISK} to {@code HELD} and from
 * both to {@code RELEASED}; {@code LOST} and {@code RELEASED} are final.
 */
public enum HoldState {
  /** Ours, and renewed in time (or a fixed lease that has not ended). */
  HELD,
  /** Still ours, but a renewal is late or the connection is disturbed: finish, or be ready to lose it. */
  AT_RISK,
  /** No longer ours without a release; final, and told once. */
  LOST,
  /** Given back; final. */
  RELEASED
}
