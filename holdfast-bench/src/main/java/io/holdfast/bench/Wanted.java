// SPDX-License-Identifier: Apache-2.0
package io.holdfast.bench;

import io.holdfast.testkit.process.ServerOptions;

/** Which servers are measured: those that were found; and with {@code -Dholdfast.stores=required} all of them. */
public final class Wanted {
  private Wanted() {}

  /** Whether to start a server; true where it must be there, so that the start says what is missing. */
  public static boolean isMeasured(boolean isThere) {
    return isThere || ServerOptions.areRequired();
  }

  /** The same, and says so if it is not. */
  static boolean isMeasured(String name, boolean isThere) {
    boolean measured = isMeasured(isThere);
    if (!measured) {
      System.out.println(
          name + ": not measured, the server was not found (dev/servers brings one)");
    }
    return measured;
  }
}
