// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * How long this process has had a lock to itself since it knows that others wait for it, or takes it for certain. Guarded by
 * the lane's lock.
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

  /** One that begins while the lock is held: it has become known that others wait. */
  static Turn noticed(long nowNanos) {
    return new Turn(nowNanos + HandOver.NANOS_WHEN_OTHERS_WAIT);
  }

  /** One that begins with a grant, of which it was known that others wait, or will come again. */
  static Turn granted(long nowNanos) {
    return new Turn(nowNanos + HandOver.NANOS_OF_A_TURN);
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
