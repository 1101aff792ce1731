// SPDX-License-Identifier: Apache-2.0
package io.holdfast;

/**
 * One reading of both local clocks, taken together.
 *
 * <p>A monotonic clock does not see a suspended machine, a wall clock does; a wall clock jumps, a monotonic one does
 * not. Time since a moment is therefore the larger of what the two say: it can be too long (which ends a hold early and
 * is safe), never too short, unless a freeze shows on neither.
 *
 * @param nanos the monotonic clock, in nanoseconds from an arbitrary origin
 * @param wallMillis the wall clock, in milliseconds since the epoch
 */
public record Moment(long nanos, long wallMillis) {
  /**
   * Returns the time from this moment to a later reading of the clocks.
   *
   * @param nowNanos the monotonic clock now
   * @param nowWallMillis the wall clock now
   * @return nanoseconds, the larger of both clocks' answers
   */
  public long elapsedNanos(long nowNanos, long nowWallMillis) {
    long wall = (nowWallMillis - wallMillis) * 1_000_000L;
    return Math.max(nowNanos - nanos, wall);
  }
}
