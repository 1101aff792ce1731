// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import java.util.Objects;

/**
 * Somebody else who uses the same store: another process, as far as the code under test can see.
 *
 * <pre>{@code
 * Hold theirs = rival.take("order:42");
 * assertFalse(service.tryBegin("42"));
 * theirs.close();
 * }</pre>
 */
public final class Rival {
  private final Holdfast holdfast;

  /**
   * Makes a rival.
   *
   * @param holdfast another client of the same store
   */
  public Rival(Holdfast holdfast) {
    this.holdfast = Objects.requireNonNull(holdfast, "holdfast");
  }

  /**
   * Takes a lock that is free.
   *
   * @param lockName the lock
   * @return the hold; released at the end of the test at the latest
   * @throws AssertionError if somebody has it
   */
  public Hold take(String lockName) {
    return holdfast
        .lock(lockName)
        .tryAcquire()
        .orElseThrow(() -> new AssertionError("lock \"" + lockName + "\" is not free to be taken"));
  }

  /**
   * Returns the rival's client.
   *
   * @return for waits, options, administration
   */
  public Holdfast holdfast() {
    return holdfast;
  }
}
