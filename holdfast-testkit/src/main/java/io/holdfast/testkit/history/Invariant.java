// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.history;

import java.util.ArrayList;
import java.util.List;

/** What must hold in every history. The numbers are those of the project's verification programme. */
public enum Invariant {
  /** Never two unexpired leases of one lock, as judged by the store; and a kept lock is kept. */
  I1,
  /** A hold is never valid after its lease in the store has ended. */
  I2,
  /** Tokens of one lock only grow. */
  I3,
  /** A guarded resource never takes a lower token after a higher one. */
  I4,
  /** No lost wake-up: a free lock goes to somebody who waits for it, in time, and in order where that was asked for. */
  I5,
  /** Renewals and releases touch only what is their own. */
  I6,
  /** Nothing of a claim is left in the store once its process is done with it. */
  I7,
  /** At most one renewal of a lease at a time; none after its release or loss. */
  I8,
  /** The loss of a hold is told once and in time; what was invalid once stays so. */
  I9,
  /** Reentrant locks count per thread, and refuse strangers. */
  I10,
  /** Every request is answered in time, and "busy" means that somebody has the lock. */
  I12;

  /**
   * Judges a history by this invariant.
   *
   * @param history what happened
   * @return where it is broken; empty if it holds
   */
  public List<Violation> violations(History history) {
    Judge one = judge();
    one.judge(this, history);
    return one.found();
  }

  private Judge judge() {
    return switch (this) {
      case I1 -> new Exclusion();
      case I2 -> new LocalValidity();
      case I3 -> new TokenOrder();
      case I4 -> new Fencing();
      case I5 -> new WakeUp();
      case I6 -> new OwnLease();
      case I7 -> new Leaks();
      case I8 -> new Renewals();
      case I9 -> new LossTold();
      case I10 -> new Reentrancy();
      case I12 -> new Answers();
    };
  }

  /**
   * Judges a history by every invariant.
   *
   * @param history what happened
   * @return where it is broken, by invariant
   */
  public static List<Violation> all(History history) {
    List<Violation> found = new ArrayList<>();
    for (Invariant one : values()) {
      found.addAll(one.violations(history));
    }
    return found;
  }
}
