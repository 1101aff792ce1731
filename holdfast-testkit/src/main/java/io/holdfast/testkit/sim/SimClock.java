// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Ticker;

/**
 * The clocks of one process: both run at a rate of their own; the wall clock can be set; the monotonic one stands still
 * while the machine sleeps.
 */
final class SimClock implements Ticker {
  private static final long MONOTONIC_START = 1_000_000_000L;
  private static final long WALL_START_MILLIS = 1_767_225_600_000L; // 2026-01-01T00:00:00Z

  private final SimWorld world;
  private final double rate;
  private long sleptNanos;
  private long wallAheadNanos;
  private long highest;

  SimClock(SimWorld world, double rate) {
    this.world = world;
    this.rate = rate;
  }

  @Override
  public long nanos() {
    if (world.flaw == Flaw.WALL_CLOCK_ONLY) {
      highest = Math.max(highest, MONOTONIC_START + (long) (world.now * rate) + wallAheadNanos);
      return highest;
    }
    return MONOTONIC_START + (long) ((world.now - sleptNanos) * rate);
  }

  @Override
  public long wallMillis() {
    long elapsed = world.flaw == Flaw.MONOTONIC_CLOCK_ONLY
        ? nanos() - MONOTONIC_START
        : (long) (world.now * rate) + wallAheadNanos;
    return WALL_START_MILLIS + Math.floorDiv(elapsed, 1_000_000L);
  }

  /** When the monotonic clock will read a time, if the machine does not sleep before. */
  long worldTimeOf(long nanos) {
    return (long) Math.ceil((nanos - MONOTONIC_START) / rate) + sleptNanos + 1;
  }

  void slept(long nanos) {
    sleptNanos += nanos;
  }

  void stepWall(long nanos) {
    wallAheadNanos += nanos;
  }

  /** What the wall clock is from the truth, rate aside. */
  long wallAheadNanos() {
    return wallAheadNanos;
  }
}
