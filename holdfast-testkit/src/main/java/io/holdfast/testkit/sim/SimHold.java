// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.sim;

import io.holdfast.Hold;
import io.holdfast.testkit.history.Kind;

/** A hold as its holder sees it. The world keeps it alive: when it is garbage is the script's business. */
final class SimHold {
  final SimProcess process;
  final Hold hold;
  final String lock;
  final long token;
  private boolean over;
  private boolean invalid;

  SimHold(SimProcess process, Hold hold) {
    this.process = process;
    this.hold = hold;
    this.lock = hold.lockName();
    this.token = hold.token();
  }

  long revision() {
    return token >> 8;
  }

  /** The holder has released or dropped it: what it says does not matter any more. */
  void over() {
    over = true;
  }

  /** Asks whether it is valid, and writes the answer down. */
  boolean probe() {
    boolean valid = hold.isValid();
    if (valid || (!over && !invalid)) {
      invalid = !valid;
      record(valid ? Kind.VALID : Kind.INVALID, 0);
    }
    return valid;
  }

  void record(Kind kind, long other) {
    process.world.record(kind, process.number, lock, "", "", token, other, 0);
  }
}
