// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * How long this process has had a lock to itself since it knows that others wait for it. Guarded by the lane's lock.
 *
 * <p>It spans grants: a process that releases and acquires again before the others have looked has not given them their
 * turn.
 */
final class Turn {
  private final long sinceNanos;
  private int passedOn;

  /** Begins when it became known that others wait. */
  Turn(long sinceNanos) {
    this.sinceNanos = sinceNanos;
  }

  /** The lock went to another holder of this process. */
  void passedOn() {
    passedOn++;
  }

  /** Whether it is the others' turn. */
  boolean isOver(long nowNanos) {
    return passedOn >= HandOver.LIMIT_WHEN_OTHERS_WAIT
        || nowNanos - sinceNanos >= HandOver.NANOS_WHEN_OTHERS_WAIT;
  }
}
