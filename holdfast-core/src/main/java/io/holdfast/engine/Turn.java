// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * This process's turn with a lock that others want, or are expected to want: when it ends, and how many holders it has had.
 * Guarded by the lane's lock.
 *
 * <p>On stores whose waiters look again it spans grants: a process that releases and acquires again before the others have
 * looked has not given them their turn.
 */
final class Turn {
  private final long endNanos;
  private int passedOn;

  private Turn(long endNanos) {
    this.endNanos = endNanos;
  }

  /** A turn that begins while the lock is held: the store has said that others wait. */
  static Turn noticed(long nowNanos) {
    return new Turn(nowNanos + HandOver.NANOS_WHEN_OTHERS_WAIT);
  }

  /** A turn that begins with a grant: others wait, or are expected to come back. */
  static Turn granted(long nowNanos) {
    return new Turn(nowNanos + HandOver.GRANTED_TURN_NANOS);
  }

  /** The lock went to another holder of this process. */
  void passedOn() {
    passedOn++;
  }

  /** Whether it is the others' turn. */
  boolean isOver(long nowNanos) {
    return passedOn >= HandOver.LIMIT_WHEN_OTHERS_WAIT || nowNanos - endNanos >= 0;
  }
}
