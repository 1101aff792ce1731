// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

/**
 * Counts the tests that are on one server, so that it is emptied only when none is on it: tests of the contract run side by
 * side, and what is left of one, under names of its own, disturbs no other.
 *
 * <pre>{@code
 * private static final Occupancy TESTS = new Occupancy(() -> SHARED.get().call(redis -> redis.flushall()));
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class Occupancy {
  private final Runnable empty;
  private int tests;

  /**
   * Makes the count of one server.
   *
   * @param empty throws away all that is on it
   */
  public Occupancy(Runnable empty) {
    this.empty = empty;
  }

  /** A test begins. The first one finds the server empty; what emptying it throws is thrown here, and no test has begun. */
  public synchronized void enter() {
    if (tests == 0) {
      empty.run();
    }
    tests++;
  }

  /** A test has ended. The last one leaves the server empty; what emptying it throws is thrown here. */
  public synchronized void leave() {
    tests--;
    if (tests == 0) {
      empty.run();
    }
  }
}
