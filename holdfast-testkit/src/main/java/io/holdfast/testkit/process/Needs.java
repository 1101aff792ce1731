// SPDX-License-Identifier: Apache-2.0
package io.holdfast.testkit.process;

import org.junit.jupiter.api.Assumptions;

/**
 * What a test needs of its machine. Where that is missing, the test is aborted, with the reason; with {@code
 * -Dholdfast.stores=required} it fails.
 *
 * <p>A test of terminals begins with {@code Needs.that(hasScript(), "the terminal is not tested: no script(1)")}.
 */
public final class Needs {
  private Needs() {}

  /**
   * Returns if the machine has it.
   *
   * @param isThere whether the machine has it
   * @param why what is not tested without it, and what is missing
   * @throws org.opentest4j.TestAbortedException if it is not there
   * @throws AssertionError if it is not there, and all stores are required
   */
  public static void that(boolean isThere, String why) {
    if (!isThere) {
      throw missing(why);
    }
  }

  /** Aborts the test, or returns the failure if all stores are required. */
  static AssertionError missing(String why) {
    if (ServerOptions.areRequired()) {
      return new AssertionError(why);
    }
    return Assumptions.abort(why);
  }
}
