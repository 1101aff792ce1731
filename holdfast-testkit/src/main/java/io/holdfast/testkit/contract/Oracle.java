// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.contract;

import io.holdfast.Hold;

/**
 * A thing that only works if nobody else is at it: plain fields, changed in several steps without any synchronization.
 * If the lock fails, updates are lost, two are inside, or tokens go back.
 */
final class Oracle {
  private long count;
  private long inside;
  private long lastToken;

  /** Uses the thing while holding the lock. */
  void use(Hold hold) {
    enter(hold.token());
    if (!hold.isValid()) {
      throw new AssertionError("token " + hold.token() + " was not valid: " + hold.state());
    }
    leave();
  }

  /** Uses the thing, with a token or without (zero). */
  void enter(long token) {
    inside++;
    long before = count;
    if (inside != 1) {
      throw new AssertionError(inside + " are inside, with token " + token);
    }
    if (token != 0 && token <= lastToken) {
      throw new AssertionError("token " + token + " after " + lastToken);
    }
    lastToken = Math.max(lastToken, token);
    Thread.onSpinWait();
    count = before + 1;
  }

  void leave() {
    inside--;
  }

  long count() {
    return count;
  }
}
