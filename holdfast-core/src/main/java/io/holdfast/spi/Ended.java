// SPDX-License-Identifier: Apache-2.0
package io.holdfast.spi;

import java.util.Objects;

/**
 * The store's answer to {@link LockStore#end}.
 *
 * @param outcome what was found
 * @param isFinal whether no copy of an earlier attempt can be applied any more: the store's clock has passed the last
 *     {@code giveUpAt} (or it has other means to be sure)
 * @param othersWait whether another process is known to wait for this lock
 */
public record Ended(Outcome outcome, boolean isFinal, boolean othersWait) {
  /** Checks that the outcome is not null. */
  public Ended {
    Objects.requireNonNull(outcome, "outcome");
  }

  /** What was found. */
  public enum Outcome {
    /** It held the lock, and holds it no longer (or the lock is kept without a holder). */
    RELEASED,
    /** It waited, and waits no longer. */
    WITHDRAWN,
    /** There was nothing of it. */
    NOT_THERE
  }
}
