// SPDX-License-Identifier: Apache-2.0
package io.holdfast.engine;

/**
 * How long this process has had a lock to itself since it knows that others wait for it. Guarded by the lane's lock.
 *
 * <p>It spans grants: a process that releases and acquires again before the others have looked has not given them their
 * turn.
 */
final class Turn {
  private boolean othersWait;
  private long sinceNanos;
  private int passedOn;

  /** The store said whether others wait. */
  void othersWait(boolean wait, long nowNanos) {
    if (wait && !othersWait) {
      sinceNanos = nowNanos;
      passedOn = 0;
    }
    othersWait = wait;
  }

  /** The lock went to another holder of this process. */
  void passedOn() {
    passedOn++;
  }

  /** The others had their chance. */
  void yielded() {
    othersWait = false;
  }

  boolean othersWait() {
    return othersWait;
  }

  int passedOnCount() {
    return passedOn;
  }

  long lastedNanos(long nowNanos) {
    return othersWait ? nowNanos - sinceNanos : 0;
  }

  /** Whether it is the others' turn. */
  boolean isOver(long nowNanos) {
    return othersWait
        && (passedOn >= HandOver.LIMIT_WHEN_OTHERS_WAIT
            || lastedNanos(nowNanos) >= HandOver.NANOS_WHEN_OTHERS_WAIT);
  }
}
